#include "app/select.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "base/parallel.h"

namespace upsweep::app {

namespace {

// Edit distance: insertions, deletions, replacements and swaps of neighbours ("cdua" is one from "cuda").
std::size_t edits(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before_last, last, row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last = std::exchange(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row.back();
}

template <class Enum, std::size_t N>
Enum parse_name(const char* kind, const std::string& name, const std::array<std::string_view, N>& names) {
  if (const auto value = parse<Enum>(name)) return *value;
  throw unknown_name(kind, name, {names.begin(), names.end()});
}

// Names into enumerators, each of which the primitive has to take.
template <class Enum, std::size_t N>
std::vector<Enum> chosen(const char* kind, const std::vector<std::string>& names, const Primitive& primitive,
                         const std::vector<Enum>& taken, std::vector<Enum> otherwise,
                         const std::array<std::string_view, N>& all) {
  if (names.empty()) {
    std::erase_if(otherwise, [&](Enum e) { return std::find(taken.begin(), taken.end(), e) == taken.end(); });
    return otherwise.empty() ? taken : otherwise;
  }
  std::vector<Enum> values;
  for (const std::string& name : names) {
    const Enum value = parse_name<Enum>(kind, name, all);
    if (std::find(taken.begin(), taken.end(), value) == taken.end()) {
      std::vector<std::string_view> takes;
      for (const Enum e : taken) takes.push_back(to_string(e));
      throw Error(Code::invalid_argument, fmt::format("{} does not take {} {}", primitive.name, kind, name),
                  fmt::format("it takes {}", fmt::join(takes, " ")));
    }
    values.push_back(value);
  }
  return values;
}

// A parameter that tunes any call: a whole number.
struct Tuning {
  Parameter parameter;
  double least, most;
};
constexpr Tuning tunings[] = {
    {{"block"}, 1, 1024},            // threads in a block, of every CUDA device
    {{"grid"}, 1, 0x7fffffff},       // blocks in a launch, of every CUDA device
    {{"threads"}, 0, Parts::most}};  // no CPU rung cuts its work into more parts; 0: all cores

void require_in_range(const std::string& item, std::string_view name, double value) {
  for (const Tuning& t : tunings)
    if (t.parameter.name == name && (value < t.least || value > t.most || value != std::trunc(value)))
      throw Error(Code::invalid_argument,
                  fmt::format("'{}': {} is a whole number from {} to {}", item, name, t.least, t.most),
                  "leave it out for the rung's own choice");
}

}  // namespace

std::string nearest(const std::string& name, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t fewest = std::max<std::size_t>(2, name.size() / 2) + 1;  // farther than this is another word
  for (const std::string& candidate : candidates)
    if (const std::size_t distance = edits(name, candidate); distance < fewest) {
      fewest = distance;
      best = candidate;
    }
  return best;
}

Error unknown_name(const std::string& kind, const std::string& name, const std::vector<std::string>& candidates) {
  const std::string near = nearest(name, candidates);
  return {Code::invalid_argument,
          fmt::format("no {} named '{}'{}", kind, name, near.empty() ? "" : fmt::format("; did you mean '{}'?", near)),
          fmt::format("there are: {}", fmt::join(candidates, " "))};
}

void declare_selection(CLI::App& command, Selection& s) {
  const auto list = [&](const char* name, std::vector<std::string>& to, const char* description) {
    command.add_option(name, to, description)->delimiter(',')->allow_extra_args(false);
  };
  command.add_option("primitive", s.primitives, "What to work on: reduce, ... (default: all)");
  list("--rung", s.rungs, "Only these rungs, by name: a,b (default: all)");
  list("--backend", s.backends, "cpu, cuda, simt (default: what is there and makes sense)");
  list("--type", s.types, "Element types: i8, u8, i16, u16, i32, u32, i64, u64, f32, f64; of reduce from i32 on");
  list("--op", s.ops, "Operators: sum, product, min, max; of select: find_repeats, select_if, ...");
  command.add_option("-n,--size", s.sizes, "Elements: 1000, 64K, 2^20, lists 1K,1M, powers 2^10..2^24");
  list("--input", s.inputs, "Named inputs: uniform, zipf, ...");
  list("--param", s.params, "Parameters of the call: block=256,grid=64");
}

const Primitive& chosen_primitive(const std::string& name) {
  if (const Primitive* primitive = find_primitive(name)) return *primitive;
  std::vector<std::string> names;
  for (const Primitive* primitive : primitives()) names.emplace_back(primitive->name);
  throw unknown_name("primitive", name, names);
}

std::vector<const Primitive*> chosen_primitives(const Selection& selection) {
  std::vector<const Primitive*> chosen;
  for (const std::string& name : selection.primitives) chosen.push_back(&chosen_primitive(name));
  if (chosen.empty())
    for (const Primitive* primitive : primitives())
      if (primitive->name != "ceiling") chosen.push_back(primitive);  // ceilings come with every run anyway
  return chosen;
}

std::vector<Backend> chosen_backends(const Selection& selection, const std::vector<Backend>& otherwise) {
  std::vector<Backend> chosen;
  for (const std::string& name : selection.backends)
    chosen.push_back(parse_name<Backend>("backend", name, backend_names));
  return chosen.empty() ? otherwise : chosen;
}

std::vector<Type> chosen_types(const Selection& selection, const Primitive& primitive, std::vector<Type> otherwise) {
  return chosen("type", selection.types, primitive, primitive.types(), std::move(otherwise), type_names);
}

std::vector<Op> chosen_ops(const Selection& selection, const Primitive& primitive, std::vector<Op> otherwise) {
  return chosen("op", selection.ops, primitive, primitive.ops(), std::move(otherwise), op_names);
}

std::vector<std::string> chosen_inputs(const Selection& selection, const Primitive& primitive, Type type,
                                       std::vector<std::string> otherwise) {
  if (selection.inputs.empty()) return otherwise;
  const auto known = primitive.inputs(type);
  for (const std::string& name : selection.inputs)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw unknown_name(fmt::format("input of {}", to_string(type)), name, known);
  return selection.inputs;
}

Params chosen_params(const Selection& selection, const Primitive& primitive) {
  std::vector<Parameter> known;
  for (const Tuning& tuning : tunings) known.push_back(tuning.parameter);
  for (const Parameter& parameter : primitive.params()) known.push_back(parameter);
  Params params;
  for (const std::string& item : selection.params) {
    const auto equals = item.find('=');
    const std::string name = item.substr(0, equals), digits = equals == item.npos ? "" : item.substr(equals + 1);
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (equals == 0 || digits.empty() || error != std::errc{} || end != digits.data() + digits.size() ||
        !std::isfinite(value))
      throw Error(Code::invalid_argument, fmt::format("'{}' is not a parameter", item), "write --param block=256");
    const auto found = std::find_if(known.begin(), known.end(), [&](const Parameter& p) { return p.name == name; });
    if (found == known.end()) {
      std::vector<std::string> names;
      for (const Parameter& parameter : known) names.emplace_back(parameter.name);
      throw unknown_name(fmt::format("parameter of {}", primitive.name), name, names);
    }
    if (value < 0 && !found->may_be_negative)
      throw Error(Code::invalid_argument, fmt::format("'{}': {} cannot be negative", item, name), "");
    require_in_range(item, name, value);
    if (!params.set(found->name, value))
      throw Error(Code::invalid_argument, "too many parameters", "a call takes at most eight");
  }
  return params;
}

std::vector<const Rung*> chosen_rungs(const Selection& selection, const Primitive& primitive, Platform& platform,
                                      const RungFilter& filter) {
  std::vector<const Rung*> chosen;
  for (const Rung* rung : platform.rungs()) {
    if (rung->primitive != primitive.name || (rung->gpu_only && platform.backend() == Backend::simt)) continue;
    const bool named = std::find(selection.rungs.begin(), selection.rungs.end(), rung->name) != selection.rungs.end();
    using Arrays = RungFilter::Arrays;
    const bool there = filter.arrays == Arrays::any || rung->from_host() == (filter.arrays == Arrays::host);
    const bool by_default = selection.rungs.empty() && there && (filter.mutants || !rung->expected_wrong);
    // Peers come along with whatever rungs are named: they are what those are held against.
    if (rung->peer ? ((filter.peers && there) || named) : (named || by_default)) chosen.push_back(rung);
  }
  return chosen;
}

void require_rung_for(const Primitive& primitive, const std::vector<const Rung*>& rungs, const Case& c) {
  std::size_t largest = 0;
  for (const Rung* rung : rungs) {
    if (rung->peer) continue;
    if (rung->largest == 0 || rung->largest >= c.n) return;
    largest = std::max(largest, rung->largest);
  }
  if (largest == 0) return;  // peers alone were asked for
  throw Error(Code::invalid_argument, fmt::format("n={} is more than these rungs of {} take", c.n, primitive.name),
              fmt::format("use n up to {}, or name another rung", largest));
}

void require_known_rungs(const Selection& selection, const std::vector<const Primitive*>& primitives,
                         const std::vector<Platform*>& platforms) {
  std::vector<std::string> known;
  for (Platform* platform : platforms)
    for (const Rung* rung : platform->rungs())
      for (const Primitive* primitive : primitives)
        if (rung->primitive == primitive->name && std::find(known.begin(), known.end(), rung->name) == known.end())
          known.emplace_back(rung->name);
  for (const std::string& name : selection.rungs)
    if (std::find(known.begin(), known.end(), name) == known.end()) throw unknown_name("rung", name, known);
}

}  // namespace upsweep::app

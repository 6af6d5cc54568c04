// upsweep list: primitives with their rungs, operations, inputs and parameters.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "app/command.h"
#include "app/output.h"
#include "app/select.h"
#include "files/quoted.h"
#include "lab/backends.h"
#include "lab/default_rung.h"
#include "lab/grid.h"
#include "lab/sizes.h"
#include "upsweep/tuning.h"

namespace upsweep::app {
namespace {

using Json = nlohmann::ordered_json;

struct ListOptions {
  CaseOptions cases;
  bool thresholds = false;
  OutputOptions output;
};

void declare(CLI::App& command, ListOptions& o) {
  CaseOptions& s = o.cases;
  offer_primitives(command.add_option("primitive", s.primitives, "Primitives: reduce, ... (default: all)"));
  command.add_option("-n,--size", s.sizes,
                     "Say which rung a call of so many elements gets, and why: 1000, 2^20, lists 1K,1M, powers "
                     "2^10..2^24");
  offer_types(add_list(command, "--type", s.types, "With -n: element types (default: the first one taken)"));
  offer_operations(add_list(command, "--op", s.ops, "With -n: operations (default: the first)"));
  offer_params(add_list(command, "--param", s.params, "With -n: parameters of the call: value_bytes=4"), Offered::any);
  command.add_flag("--thresholds", o.thresholds,
                   "The sizes at which one rung takes over from another: in force, as measured, and the file that set "
                   "them");
  declare_device(command, s);
  declare_output(command, o.output);
}

// Returns the calls whose choice of rung is to be explained.
std::vector<Case> cases_of(const CaseOptions& s, const Primitive& primitive) {
  std::vector<Case> cases;
  for (const Type type : chosen_types(s, primitive, {Type::u32}))
    for (const Operation operation : chosen_operations(s, primitive, {primitive.operations().front()}))
      for (const std::size_t n : lab::parse_sizes(s.sizes)) {
        Case c{.type = type, .operation = operation, .n = n, .input = primitive.inputs(type).front()};
        set_params(s, primitive, Backend::simt, c);
        cases.push_back(std::move(c));
      }
  return cases;
}

// Returns one line per threshold of the primitive that a tuning file has set.
std::string tuned_text(const Primitive& primitive) {
  std::string text;
  for (const ThresholdInForce& t : thresholds_in_force())
    if (!t.file.empty() && t.name.starts_with(std::string(primitive.name()) + "."))
      text += fmt::format("  {} = {}, measured {}, by {}\n", t.name, t.value, t.measured, printable(t.file));
  return text;
}

int list_choices(const ListOptions& o, const std::vector<const Primitive*>& chosen) {
  Output output(o.output);
  for (const Primitive* primitive : chosen) {
    if (!primitive->contract.choose && o.cases.primitives.empty()) continue;
    for (const Case& c : cases_of(o.cases, *primitive)) {
      const lab::Choices choices(*primitive, c);
      std::string text = fmt::format("{} {}{}{} n={}\n", primitive->name(), to_string(c.type), c.operation ? " " : "",
                                     c.operation.name(), lab::size_text(c.n));
      for (const Backend backend : lab::present_backends()) {
        const Platform& platform = lab::open_platform(backend);
        const Choice choice = choices.of(c.n, platform.machine());
        std::string on(to_string(backend));
        if (backend == Backend::simt) on.append(" ").append(platform.machine().name);
        text += fmt::format("  {}: {} ({})\n", on, styled(output.terminal(), lab::Style::strong, choice.rung),
                            choice.because);
        output.json_line(Json{
            {"primitive", primitive->name()},
            {"type", to_string(c.type)},
            {"op", c.operation.name()},
            {"n", c.n},
            {"on", on},
            {"rung", choice.rung},
            {"because",
             choice.because}}.dump());
      }
      output.table(text);
    }
    output.table(tuned_text(*primitive));
  }
  output.commit();
  return Exit::all_right;
}

int list_thresholds(const ListOptions& o, const std::vector<const Primitive*>& chosen) {
  read_tuning();
  Output output(o.output);
  lab::Grid grid({"threshold", "in force", "measured", "set by"});
  for (const ThresholdInForce& t : thresholds_in_force()) {
    const std::string_view ladder = std::string_view(t.name).substr(0, t.name.find('.'));
    if (std::none_of(chosen.begin(), chosen.end(), [&](const Primitive* p) { return p->name() == ladder; })) continue;
    grid.add({{t.name}, {fmt::format("{}", t.value)}, {fmt::format("{}", t.measured)}, {t.file}});
    output.json_line(
        Json{{"threshold", t.name}, {"value", t.value}, {"measured", t.measured}, {"file", t.file}}.dump());
  }
  if (!grid.empty()) output.table(grid.text(output.terminal()));
  output.commit();
  return Exit::all_right;
}

// Returns the rungs that calls get if they name none, over all types, operations and powers of two.
std::set<std::string_view> defaults_of(const Platform& platform, const Primitive& primitive) {
  std::set<std::string_view> names;
  if (!primitive.contract.choose) return names;
  for (const Type type : primitive.types())
    for (const Operation& operation : primitive.operations()) {
      const lab::Choices choices(primitive,
                                 {.type = type, .operation = operation, .input = primitive.inputs(type).front()});
      for (unsigned log_n = 0; log_n < 32; ++log_n)
        names.insert(choices.of(std::size_t{1} << log_n, platform.machine()).rung);
    }
  return names;
}

// A rung or peer in the list. A rung that exists on the GPU and the emulator is listed once, as a GPU rung.
struct Entry {
  const Rung* rung;
  std::string_view backend;
  bool is_default;
};
std::vector<Entry> entries_of(const Primitive& primitive) {
  std::vector<Entry> entries;
  for (const Backend backend : lab::present_backends()) {
    const bool cpu = backend == Backend::cpu;
    Platform& platform = lab::open_platform(backend);
    const std::set<std::string_view> defaults = defaults_of(platform, primitive);
    for (const Rung* rung : lab::rungs_and_peers(platform)) {
      const bool known = std::any_of(entries.begin(), entries.end(), [&](const Entry& e) {
        return e.rung->name == rung->name && e.rung->peer == rung->peer && (e.backend == "cpu") == cpu;
      });
      if (rung->primitive == primitive.name() && !known)
        entries.push_back({rung, cpu ? "cpu" : "gpu", !rung->peer && defaults.contains(rung->name)});
    }
  }
  return entries;
}

std::vector<std::string> remarks_of(const Entry& entry) {
  const Rung& r = *entry.rung;
  std::vector<std::string> remarks{std::string(entry.backend)};
  const auto remark = [&](bool is, const std::string& text) {
    if (is) remarks.push_back(text);
  };
  remark(entry.is_default, "default");
  remark(r.peer, fmt::format("peer, {}", r.version));
  remark(r.reproducible, "reproducible");
  remark(r.any_order, "not stable");
  remark(r.synchronises, "synchronises");
  remark(r.from_host(), "from host memory");
  remark(r.largest != 0, fmt::format("n up to {}", r.largest));
  remark(r.expected_wrong, "wrong on purpose");
  return remarks;
}

// Returns a parameter's default; empty if it depends on other values.
std::string default_of(const Parameter& parameter) {
  return parameter.initial ? text_of(Settings::Item{&parameter, parameter.initial}) : std::string();
}

// Returns the operations that read a parameter; empty if all do.
std::vector<std::string> readers_of(const Primitive& primitive, const Parameter& parameter) {
  std::vector<std::string> readers;
  for (const Operation& operation : primitive.operations()) {
    const auto read = primitive.parameters_of(operation);
    if (std::find(read.begin(), read.end(), &parameter) != read.end()) readers.emplace_back(operation.name());
  }
  if (readers.size() == primitive.operations().size()) readers.clear();
  return readers;
}

std::vector<const Parameter*> parameters_of(const Primitive& primitive) {
  std::vector<const Parameter*> all;
  for (const auto& parameters : {primitive.contract.scalars, primitive.shapes})
    for (const Parameter& parameter : parameters) all.push_back(&parameter);
  return all;
}

std::vector<std::string> inputs_of(const Primitive& primitive) {
  std::vector<std::string> all;
  for (const Type type : primitive.types())
    for (std::string& input : primitive.inputs(type))
      if (std::find(all.begin(), all.end(), input) == all.end()) all.push_back(std::move(input));
  return all;
}

template <class Names>
std::vector<std::string> names_of(const Names& all, auto name) {
  std::vector<std::string> names;
  for (const auto& each : all) names.emplace_back(name(each));
  return names;
}
std::vector<std::string> types_of(const Primitive& primitive) {
  return names_of(primitive.types(), [](Type type) { return to_string(type); });
}
std::vector<std::string> operations_of(const Primitive& primitive) {
  return names_of(primitive.contract.operations, [](const ListedOperation& listed) { return listed.operation.name(); });
}

constexpr std::string_view kind_names[] = {"element", "result", "integer",
                                           "real",    "flag",   "choice"};  // indexed by Parameter::Kind

bool is_bounded(const Parameter& p) { return p.kind == Parameter::Kind::integer || p.kind == Parameter::Kind::real; }

std::string to_json(const Primitive& primitive) {
  Json json;
  json["primitive"] = primitive.name();
  json["promise"] = primitive.contract.promise;
  json["types"] = types_of(primitive);
  json["operations"] = operations_of(primitive);
  json["inputs"] = inputs_of(primitive);
  json["parameters"] = Json::array();
  for (const Parameter* p : parameters_of(primitive)) {
    const std::string otherwise = default_of(*p);
    const auto bound = [&](double value) {
      return is_bounded(*p) && std::isfinite(value) ? Json(value) : Json(nullptr);
    };
    json["parameters"].push_back({{"name", p->name},
                                  {"takes", takes(*p)},
                                  {"default", otherwise.empty() ? Json(nullptr) : Json(otherwise)},
                                  {"default_in_words", p->initial_in_words},
                                  {"kind", kind_names[static_cast<std::size_t>(p->kind)]},
                                  {"choices", std::vector<std::string_view>(p->choices.begin(), p->choices.end())},
                                  {"least", bound(p->least)},
                                  {"most", bound(p->most)},
                                  {"meaning", p->meaning},
                                  {"operations", readers_of(primitive, *p)}});
  }
  for (const TuningField* f : tuning_of(primitive))
    json["parameters"].push_back({{"name", f->name},
                                  {"takes", takes(*f)},
                                  {"default", nullptr},
                                  {"meaning", f->meaning},
                                  {"operations", Json::array()}});
  json["rungs"] = Json::array();
  for (const Entry& e : entries_of(primitive))
    json["rungs"].push_back({{"name", e.rung->name},
                             {"backend", e.backend},
                             {"peer", e.rung->peer},
                             {"default", e.is_default},
                             {"expected_wrong", e.rung->expected_wrong},
                             {"takes_initial", e.rung->takes_initial},
                             {"takes_wider_output", e.rung->takes_wider_output},
                             {"takes_segments", e.rung->takes_segments},
                             {"idea", e.rung->story.idea}});
  return json.dump();
}

// A named fact about a primitive.
struct Item {
  std::string name, text;
};

std::vector<Item> facts_of(const Primitive& primitive) {
  std::vector<Item> facts{{"types", fmt::format("{}", fmt::join(types_of(primitive), " "))}};
  if (!primitive.contract.operations.empty())
    facts.push_back({"operations", fmt::format("{}", fmt::join(operations_of(primitive), " "))});
  facts.push_back({"inputs", fmt::format("{}", fmt::join(inputs_of(primitive), " "))});
  return facts;
}

std::vector<Item> parameter_lines(const Primitive& primitive) {
  std::vector<Item> lines;
  for (const Parameter* p : parameters_of(primitive)) {
    const std::string otherwise = p->initial ? default_of(*p) : std::string(p->initial_in_words);
    const auto readers = readers_of(primitive, *p);
    lines.push_back(
        {std::string(p->name), fmt::format("{}; {} ({}){}", takes(*p), p->meaning, otherwise,
                                           readers.empty() ? "" : fmt::format("; of {}", fmt::join(readers, ", ")))});
  }
  for (const TuningField* f : tuning_of(primitive))
    lines.push_back({std::string(f->name), fmt::format("{}; {}", takes(*f), f->meaning)});
  return lines;
}

std::string text_of(const Primitive& primitive, const lab::Terminal& terminal) {
  const auto strong = [&](std::string_view text) { return styled(terminal, lab::Style::strong, text); };
  std::string text = fmt::format("{}: {}\n", strong(primitive.name()), primitive.contract.promise);
  for (const Item& fact : facts_of(primitive)) text += fmt::format("  {}: {}\n", fact.name, fact.text);
  text += "  parameters (--param):\n";
  for (const Item& p : parameter_lines(primitive)) text += fmt::format("    {}: {}\n", strong(p.name), p.text);
  text += "  rungs and peers:\n";
  for (const Entry& e : entries_of(primitive))
    text += fmt::format("    {} ({}): {}\n", strong(e.rung->name), fmt::join(remarks_of(e), ", "), e.rung->story.idea);
  return text;
}

// Escapes Markdown's special characters, except underscores within words and brackets, which are literal anyway.
std::string in_markdown(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\`*<").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string markdown_of(const Primitive& primitive) {
  std::string text = fmt::format("## {}\n\n{}\n\n", primitive.name(), in_markdown(primitive.contract.promise));
  for (const Item& fact : facts_of(primitive)) text += fmt::format("- {}: {}\n", fact.name, in_markdown(fact.text));
  text += "\n### Parameters\n\n";
  for (const Item& p : parameter_lines(primitive)) text += fmt::format("- `{}`: {}\n", p.name, in_markdown(p.text));
  text += "\n### Rungs and peers\n\n";
  for (const Entry& e : entries_of(primitive)) {
    const std::string remarks = fmt::format("{}", fmt::join(remarks_of(e), ", "));
    text += fmt::format("- `{}` ({}): {}\n", e.rung->name, in_markdown(remarks), in_markdown(e.rung->story.idea));
  }
  return text;
}

int work(const ListOptions& o) {
  const CaseOptions& s = o.cases;
  if (s.sizes.empty() && !(s.types.empty() && s.ops.empty() && s.params.empty()))
    throw Error(Code::invalid_argument, "--type, --op and --param describe a call of -n elements",
                "add its number of elements: -n 2^20");
  emulate_device(s);
  std::vector<const Primitive*> chosen(primitives().begin(), primitives().end());
  if (!s.primitives.empty() || !s.sizes.empty()) chosen = chosen_primitives(s);
  if (o.thresholds && !s.sizes.empty())
    throw Error(Code::invalid_argument, "--thresholds and -n ask for different things", "omit one of them");
  if (o.thresholds) return list_thresholds(o, chosen);
  if (!s.sizes.empty()) return list_choices(o, chosen);
  Output output(o.output);
  std::string separator;
  for (const Primitive* primitive : chosen) {
    output.json_line(to_json(*primitive));
    output.table(separator + description_of(*primitive, output.terminal()));
    separator = "\n";
  }
  output.commit();
  return Exit::all_right;
}

}  // namespace

std::string description_of(const Primitive& primitive, const lab::Terminal& terminal) {
  return terminal.markdown ? markdown_of(primitive) : text_of(primitive, terminal);
}

void add_list(CLI::App& app, int& exit_code) {
  add_command<ListOptions>(app, exit_code, "list", "List rungs, operations, inputs and parameters of primitives",
                           "  upsweep list\n"
                           "  upsweep list scan\n"
                           "  upsweep list select --json | jq .parameters\n"
                           "  upsweep list sort -n 2^10..2^28 --type u32          which rung a call gets, and why\n"
                           "  upsweep list sort -n 2^20 --device t4               on another GPU\n"
                           "  upsweep list sort --thresholds                      where one rung takes over\n",
                           declare, work);
}

}  // namespace upsweep::app

#include "app/select.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <set>
#include <utility>

#include "app/command.h"
#include "base/needs.h"
#include "lab/backends.h"
#include "lab/default_rung.h"
#include "lab/sizes.h"

namespace upsweep::app {

namespace {

// Edit distance: insertions, deletions, substitutions and transpositions ("cdua" is one edit from "cuda").
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

}  // namespace

std::string nearest(const std::string& name, const std::vector<std::string>& candidates) {
  const auto lower = [](std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
  };
  std::string best;
  std::size_t fewest = std::max<std::size_t>(2, name.size() / 2) + 1;  // names with more edits are unrelated
  for (const std::string& candidate : candidates)
    if (const std::size_t distance = edits(lower(name), lower(candidate)); distance < fewest) {
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

namespace {

bool is_read(const TuningField& field, Backend backend) { return field.of_cpu == (backend == Backend::cpu); }

// Returns the words that f adds for the primitives named on a command line, or for all primitives if none is named.
template <class F>
std::vector<std::string> of_primitives(const Line& line, F&& f) {
  std::vector<std::string> words;
  const auto add = [&](std::string_view word) {
    if (std::find(words.begin(), words.end(), word) == words.end()) words.emplace_back(word);
  };
  const auto named = [&](const Primitive* p) { return std::find(line.begin(), line.end(), p->name()) != line.end(); };
  const bool any = std::any_of(primitives().begin(), primitives().end(), named);
  for (const Primitive* primitive : primitives())
    if (!any || named(primitive)) f(*primitive, add);
  return words;
}

}  // namespace

CLI::Option* offer_primitives(CLI::Option* option, Offered offered) {
  return offer(option, [offered](const Line&) {
    return of_primitives({}, [&](const Primitive& p, auto add) {
      if (offered != Offered::of_run || p.stream) add(p.name());
    });
  });
}

namespace {

// Returns the backends that a command line selects.
std::vector<Backend> backends_of(const Line& line, Offered offered) {
  if (offered == Offered::any) return lab::present_backends();
  if (offered == Offered::of_explain) return {Backend::simt};
  for (std::size_t k = 0; k < line.size(); ++k) {
    const std::string_view word = line[k], name = "--backend=";
    const std::string_view value = word.starts_with(name)                       ? word.substr(name.size())
                                   : word == "--backend" && k + 1 < line.size() ? std::string_view(line[k + 1])
                                                                                : std::string_view();
    if (const auto backend = parse<Backend>(value)) return {*backend};
  }
  return {Backend::cpu};
}

std::vector<Backend> present_ones(std::vector<Backend> backends) {
  const auto present = lab::present_backends();
  std::erase_if(backends, [&](Backend b) { return std::find(present.begin(), present.end(), b) == present.end(); });
  return backends;
}

}  // namespace

CLI::Option* offer_rungs(CLI::Option* option, Offered offered) {
  return offer(option, [offered](const Line& line) {
    return of_primitives(line, [&](const Primitive& p, auto add) {
      for (const Backend backend : present_ones(backends_of(line, offered)))
        for (const Rung* rung : lab::open_platform(backend).rungs_of(p.contract))
          if (!(offered == Offered::of_run && rung->expected_wrong)) add(rung->name);
      if (p.contract.choose) add(lab::default_name);
    });
  });
}
CLI::Option* offer_backends(CLI::Option* option) {
  return offer(option,
               [](const Line&) { return std::vector<std::string>(backend_names.begin(), backend_names.end()); });
}
CLI::Option* offer_types(CLI::Option* option) {
  return offer(option, [](const Line& line) {
    return of_primitives(line, [](const Primitive& p, auto add) {
      for (const Type type : p.types()) add(to_string(type));
    });
  });
}
CLI::Option* offer_operations(CLI::Option* option) {
  return offer(option, [](const Line& line) {
    return of_primitives(line, [](const Primitive& p, auto add) {
      for (const Operation& operation : p.contract.operations) add(operation.name());
    });
  });
}
CLI::Option* offer_params(CLI::Option* option, Offered offered) {
  return offer(option, [offered](const Line& line) {
    return of_primitives(line, [&](const Primitive& p, auto add) {
      for (const auto& parameters : {p.contract.scalars, p.shapes})
        for (const Parameter& parameter : parameters) {
          if (offered == Offered::of_run && !p.reads_streamed(parameter)) continue;
          const std::string name = std::string(parameter.name) + "=";
          add(name);
          for (const std::string_view choice : parameter.choices) add(name + std::string(choice));
          if (parameter.kind == Parameter::Kind::flag)
            for (const char* value : {"false", "true"}) add(name + value);
        }
      const auto backends = backends_of(line, offered);
      for (const TuningField* field : tuning_of(p))
        if (std::any_of(backends.begin(), backends.end(), [&](Backend b) { return is_read(*field, b); }))
          add(std::string(field->name) + "=");
    });
  });
}

void declare_case_options(CLI::App& command, CaseOptions& s, bool with_backend) {
  const auto list = [&](const char* name, std::vector<std::string>& to, const char* description) {
    return add_list(command, name, to, description);
  };
  offer_primitives(command.add_option("primitive", s.primitives, "Primitives: reduce, ... (default: all)"));
  const Offered offered = with_backend ? Offered::any : Offered::of_explain;
  offer_rungs(list("--rung", s.rungs, "Only these rungs, by name: a,b (default: all)"), offered);
  if (with_backend)
    offer_backends(list("--backend", s.backends, "cpu, cuda, simt (default: the available ones that make sense)"));
  offer_types(
      list("--type", s.types,
           "Element types: i8, u8, i16, u16, i32, u32, i64, u64, f32, f64; of reduce, scan and sort also f16, bf16"));
  offer_operations(list("--op", s.ops, "Operators: sum, product, min, max; for select: find_repeats, select_if, ..."));
  command.add_option("-n,--size", s.sizes, "Elements: 1000, 64K, 1e6, 2^20, lists 1K,1M, powers 2^10..2^24");
  offer(list("--input", s.inputs, "Named inputs: uniform, zipf, ..."), [](const Line& line) {
    return of_primitives(line, [](const Primitive& p, auto add) {
      for (const Type type : p.types())
        for (const std::string& input : p.inputs(type)) add(input);
    });
  });
  offer_params(list("--param", s.params, "Parameters of the call: block=256,grid=64; see upsweep list"), offered);
}

void declare_device(CLI::App& command, CaseOptions& options) {
  std::vector<std::string> names;
  for (const Machine& machine : emulated_machines()) names.emplace_back(machine.name);
  offer(command.add_option("--device", options.device,
                           fmt::format("GPU that the emulators model: {} (default: h200)", fmt::join(names, ", "))),
        [](const Line&) {
          std::vector<std::string> all;
          for (const Machine& machine : emulated_machines()) all.emplace_back(machine.name);
          return all;
        });
}

void emulate_device(const CaseOptions& options) {
  if (options.device.empty()) return;
  const Machine& machine = emulated_machine(options.device);
  lab::open_plain().emulate(machine);
  lab::open_traced().emulate(machine);
}

std::vector<const TuningField*> tuning_of(const Primitive& primitive) {
  std::vector<const TuningField*> fields;
  for (const TuningField& field : tuning_fields()) {
    const auto& own = primitive.tuning;
    if (field.of_every_primitive || std::find(own.begin(), own.end(), field.name) != own.end())
      fields.push_back(&field);
  }
  return fields;
}

const Primitive& chosen_primitive(const std::string& name) {
  if (const Primitive* primitive = find_primitive(name)) return *primitive;
  std::vector<std::string> names;
  for (const Primitive* primitive : primitives()) names.emplace_back(primitive->name());
  throw unknown_name("primitive", name, names);
}

std::vector<const Primitive*> chosen_primitives(const CaseOptions& options) {
  std::vector<const Primitive*> chosen;
  for (const std::string& name : options.primitives) chosen.push_back(&chosen_primitive(name));
  if (!chosen.empty()) return chosen;
  const auto takes_one = [&](const Primitive& primitive) {
    const std::vector<Type> taken = primitive.types();
    return std::any_of(options.types.begin(), options.types.end(), [&](const std::string& name) {
      const auto type = parse<Type>(name);
      return !type || std::find(taken.begin(), taken.end(), *type) != taken.end();
    });
  };
  for (const Primitive* primitive : primitives())
    if (primitive->name() != "ceiling" && (options.types.empty() || takes_one(*primitive)))
      chosen.push_back(primitive);  // every run measures ceilings anyway
  return chosen;
}

std::vector<Backend> chosen_backends(const CaseOptions& options, const std::vector<Backend>& otherwise) {
  std::vector<Backend> chosen;
  for (const std::string& name : options.backends)
    chosen.push_back(parse_name<Backend>("backend", name, backend_names));
  return chosen.empty() ? otherwise : chosen;
}

std::vector<Type> chosen_types(const CaseOptions& options, const Primitive& primitive, std::vector<Type> otherwise) {
  const std::vector<Type> taken = primitive.types();
  const auto takes = [&](Type type) { return std::find(taken.begin(), taken.end(), type) != taken.end(); };
  if (options.types.empty()) {
    std::erase_if(otherwise, [&](Type type) { return !takes(type); });
    return otherwise.empty() ? std::vector{taken.front()} : otherwise;
  }
  std::vector<Type> types;
  for (const std::string& name : options.types) {
    types.push_back(parse_name<Type>("type", name, type_names));
    if (takes(types.back())) continue;
    std::vector<std::string_view> names;
    for (const Type type : taken) names.push_back(to_string(type));
    throw Error(Code::invalid_argument, fmt::format("{} does not take type {}", primitive.name(), name),
                fmt::format("it takes {}", fmt::join(names, " ")));
  }
  return types;
}

std::vector<Operation> chosen_operations(const CaseOptions& options, const Primitive& primitive,
                                         std::vector<Operation> otherwise) {
  if (options.ops.empty()) return otherwise;
  const auto& listed = primitive.contract.operations;
  const std::vector<Operation> known(listed.begin(), listed.end());
  if (known.empty())
    throw Error(Code::invalid_argument, fmt::format("{} has no operations", primitive.name()), "omit --op");
  std::vector<Operation> operations;
  for (const std::string& name : options.ops) {
    const auto found = std::find_if(known.begin(), known.end(), [&](const Operation& o) { return o.name() == name; });
    if (found == known.end()) {
      std::vector<std::string> names;
      for (const Operation& o : known) names.emplace_back(o.name());
      throw unknown_name(fmt::format("op of {}", primitive.name()), name, names);
    }
    operations.push_back(*found);
  }
  return operations;
}

std::vector<std::string> chosen_inputs(const CaseOptions& options, const Primitive& primitive, Type type) {
  auto known = primitive.inputs(type);
  if (options.inputs.empty()) {
    if (!primitive.own_size) return {"uniform"};
    std::erase_if(known, [&](const std::string& input) { return primitive.own_size(input) == 0; });
    return known;
  }
  for (const std::string& name : options.inputs)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw unknown_name(fmt::format("input of {}", to_string(type)), name, known);
  return options.inputs;
}

std::vector<std::size_t> chosen_sizes(const CaseOptions& options, const Primitive& primitive, const std::string& input,
                                      const std::string& otherwise) {
  if (const std::size_t own = primitive.own_size ? primitive.own_size(input) : 0; own && options.sizes.empty())
    return {own};
  return lab::parse_sizes(options.sizes.empty() ? otherwise : options.sizes);
}

void set_params(const CaseOptions& options, const Primitive& primitive, Backend backend, Case& c) {
  const auto parameters = primitive.parameters_of(c.operation);
  std::set<std::string> given_names;
  // A result's type may depend on the other parameters, so it is parsed last.
  std::vector<std::string> params = options.params;
  std::stable_partition(params.begin(), params.end(), [&](const std::string& item) {
    const Parameter* const parameter = primitive.parameter(item.substr(0, item.find('=')));
    return !parameter || parameter->kind != Parameter::Kind::result;
  });
  for (const std::string& item : params) {
    const auto equals = item.find('=');
    const std::string name = item.substr(0, equals), text = equals == item.npos ? "" : item.substr(equals + 1);
    if (equals == 0 || text.empty())
      throw Error(Code::invalid_argument, fmt::format("'{}' is not a parameter", item), "write --param block=256");
    if (!given_names.insert(name).second)
      throw Error(Code::invalid_argument, fmt::format("the parameter '{}' is given twice", name), "omit one of them");
    const auto parameter =
        std::find_if(parameters.begin(), parameters.end(), [&](const Parameter* p) { return p->name == name; });
    if (parameter != parameters.end()) {
      c.settings.set(**parameter, parse_value(**parameter, primitive.type_of(**parameter, c), text));
      continue;
    }
    std::vector<std::string> names;
    const TuningField* found = nullptr;
    for (const TuningField* field : tuning_of(primitive)) {
      names.emplace_back(field->name);
      if (field->name == name) found = field;
    }
    for (const Parameter* known : parameters) names.emplace_back(known->name);
    if (primitive.parameter(name))
      throw Error(Code::invalid_argument, fmt::format("{} does not read the parameter '{}'", c.operation.name(), name),
                  fmt::format("its parameters: {}", fmt::join(names, " ")));
    if (!found) throw unknown_name(fmt::format("parameter of {}", primitive.name()), name, names);
    Tuning given;
    parse_tuning(given, *found, text);
    if (is_read(*found, backend)) found->set(c.tuning, found->get(given));
  }
}

void require_readers(const CaseOptions& options, const std::vector<Backend>& backends,
                     const std::vector<const Rung*>& rungs) {
  const bool any_from_host =
      std::any_of(rungs.begin(), rungs.end(), [](const Rung* rung) { return rung->from_host() && !rung->peer; });
  for (const std::string& item : options.params)
    for (const TuningField& field : tuning_fields()) {
      const bool named = item.starts_with(field.name) && item[field.name.size()] == '=';
      if (named && std::none_of(backends.begin(), backends.end(), [&](Backend b) { return is_read(field, b); }))
        throw Error(Code::invalid_argument,
                    fmt::format("no rung of {} reads the parameter '{}'", to_string(backends.front()), field.name),
                    fmt::format("{} rungs read it", field.of_cpu ? "CPU" : "GPU"));
      if (named && field.from_host && !any_from_host)
        throw Error(Code::invalid_argument, fmt::format("none of these rungs reads the parameter '{}'", field.name),
                    "rungs that take arrays in host memory read it");
    }
}

std::vector<const Rung*> chosen_rungs(const CaseOptions& options, const Primitive& primitive, Platform& platform,
                                      const RungFilter& filter) {
  std::vector<const Rung*> chosen;
  for (const Rung* rung : lab::rungs_and_peers(platform)) {
    if (rung->primitive != primitive.name() || (rung->gpu_only && platform.backend() == Backend::simt)) continue;
    const bool named = std::find(options.rungs.begin(), options.rungs.end(), rung->name) != options.rungs.end();
    using Arrays = RungFilter::Arrays;
    const bool there = filter.arrays == Arrays::any || rung->from_host() == (filter.arrays == Arrays::host);
    if (!platform.machine().meets(rung->needs)) {
      if (named) require_needs(*rung, platform.machine());
      continue;
    }
    const bool by_default = options.rungs.empty() && there && (filter.mutants || !rung->expected_wrong);
    // Peers are included for comparison, whichever rungs are named.
    if (rung->peer ? ((filter.peers && there) || named) : (named || by_default)) chosen.push_back(rung);
  }
  const auto& names = options.rungs;
  if (names.empty() ? filter.choice : std::find(names.begin(), names.end(), lab::default_name) != names.end())
    if (const Rung* const rung = lab::default_rung(platform, primitive)) chosen.push_back(rung);
  return chosen;
}

void require_rung_for(const Primitive& primitive, const std::vector<const Rung*>& rungs, const Case& c) {
  std::size_t largest = 0;
  for (const Rung* rung : rungs) {
    if (rung->peer) continue;
    if (rung->largest == 0 || rung->largest >= c.n) return;
    largest = std::max(largest, rung->largest);
  }
  if (largest == 0) return;  // only peers were requested
  std::vector<std::string_view> others;
  for (const Backend backend : lab::present_backends())
    for (const Rung* rung : lab::open_platform(backend).rungs_of(primitive.contract))
      if (rung->backend == rungs.front()->backend && !rung->expected_wrong && rung->find_for(c.type, c.operation, c.n))
        others.push_back(rung->name);
  throw Error(Code::invalid_argument, fmt::format("n={} is too large for these rungs of {}", c.n, primitive.name()),
              fmt::format("use n up to {}", largest) +
                  (others.empty() ? "" : fmt::format(", or --rung {}", fmt::join(others, ", "))));
}

void require_known_rungs(const CaseOptions& options, const std::vector<const Primitive*>& primitives,
                         const std::vector<Platform*>& platforms) {
  const auto known_to = [&](const std::vector<Platform*>& some) {
    std::vector<std::string> known;
    for (Platform* platform : some)
      for (const Rung* rung : lab::rungs_and_peers(*platform))
        for (const Primitive* primitive : primitives)
          if (rung->primitive == primitive->name() && std::find(known.begin(), known.end(), rung->name) == known.end())
            known.emplace_back(rung->name);
    for (Platform* platform : some)
      for (const Primitive* primitive : primitives)
        if (lab::default_rung(*platform, *primitive) &&
            std::find(known.begin(), known.end(), lab::default_name) == known.end())
          known.emplace_back(lab::default_name);
    return known;
  };
  const std::vector<std::string> known = known_to(platforms);
  for (const std::string& name : options.rungs) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::vector<std::string_view> elsewhere;
    for (const Backend backend : lab::present_backends()) {
      const std::vector<std::string> there = known_to({&lab::open_platform(backend)});
      if (std::find(there.begin(), there.end(), name) != there.end()) elsewhere.push_back(to_string(backend));
    }
    if (!elsewhere.empty())
      throw Error{Code::invalid_argument, fmt::format("rung '{}' is for another backend", name),
                  fmt::format("it runs on {}", fmt::join(elsewhere, ", "))};
    throw unknown_name("rung", name, known);
  }
}

}  // namespace upsweep::app

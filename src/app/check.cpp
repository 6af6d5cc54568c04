// upsweep check: is every rung right?
#include "lab/check.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/output.h"
#include "app/select.h"
#include "lab/backends.h"
#include "lab/grid.h"
#include "lab/sizes.h"

namespace upsweep::app {
namespace {

struct Options {
  Selection selection;
  bool quick = false;
  bool peers = false;
  bool json = false;
  std::string output;
};

// A quick look, about a minute: every size up to 4100, a few combinations of type, operator and input at each.
constexpr lab::Depth quick_depth{
    .every_combination_to = 0, .combinations = 4, .largest = 4'100, .own_shape_every = 64};

void declare(CLI::App& command, Options& o) {
  declare_selection(command, o.selection);
  command.add_flag("--quick", o.quick, "Small sizes, and a sample of the combinations of type, operator and input");
  command.add_flag("--peers", o.peers, "Check other libraries too");
  command.add_flag("--json", o.json, "JSON lines on standard output, no table");
  command.add_option("-o,--output", o.output, "Write the results to this file (JSON lines)");
}

std::string to_json(const lab::RungCheck& r) {
  nlohmann::ordered_json json;
  json["primitive"] = r.rung->primitive;
  json["rung"] = r.rung->name;
  json["platform"] = r.platform;
  json["runs"] = r.runs;
  json["expected_wrong"] = r.rung->expected_wrong;
  json["passed"] = r.passed();
  json["failures"] = r.failures;
  return json.dump();
}

std::string results_table(const std::vector<lab::RungCheck>& results, const lab::Terminal& terminal) {
  lab::Grid grid({"rung", "platform", "runs", ""});
  std::string failures;
  for (const lab::RungCheck& r : results) {
    const char* verdict = r.runs == 0 ? "not run: takes none of these"
                          : r.rung->expected_wrong
                              ? (r.passed() ? "wrong on purpose, caught" : "wrong on purpose, NOT caught")
                              : (r.passed() ? "right" : "WRONG");
    grid.add({{fmt::format("{}/{}", r.rung->primitive, r.rung->name)},
              {r.platform},
              {fmt::format("{}", r.runs)},
              {verdict, r.runs == 0  ? lab::Style::plain
                        : r.passed() ? lab::Style::good
                                     : lab::Style::bad}});
    if (r.runs > 0 && !r.passed())
      for (const std::string& failure : r.failures) failures += failure + "\n";
  }
  return grid.text(terminal) + failures;
}

// One primitive on one platform.
struct Job {
  const Primitive* primitive;
  Platform* platform;
  simt::Emulator* emulator;  // the platform, if it is an emulator
  lab::Depth depth;
  bool mutants;
};

std::vector<Job> jobs_on(Backend backend, const Primitive& primitive) {
  if (backend != Backend::simt) return {{&primitive, &lab::open_platform(backend), nullptr, lab::full_depth, false}};
  // The plain emulator is fast and finds wrong results; the traced one also finds races and stray accesses, so it runs
  // the mutants.
  return {{&primitive, &lab::open_plain(), &lab::open_plain(), lab::emulated_depth, false},
          {&primitive, &lab::open_traced(), &lab::open_traced(), lab::traced_depth, true}};
}

// Every named input must exist for at least one of the types; the check skips it for the others.
void require_known_inputs(const Selection& s, const Primitive& primitive, std::vector<Type> types) {
  if (types.empty()) types = primitive.types();
  std::vector<std::string> known;
  for (const Type type : types)
    for (std::string& name : primitive.inputs(type))
      if (std::find(known.begin(), known.end(), name) == known.end()) known.push_back(std::move(name));
  for (const std::string& name : s.inputs)
    if (std::find(known.begin(), known.end(), name) == known.end()) throw unknown_name("input", name, known);
}

int work(const Options& options) {
  const Selection& s = options.selection;
  auto primitives = chosen_primitives(s);
  std::vector<Job> jobs;
  std::vector<Platform*> platforms;
  for (const Primitive* primitive : primitives)
    for (const Backend backend : chosen_backends(s, lab::present_backends()))
      for (Job& job : jobs_on(backend, *primitive)) {
        platforms.push_back(job.platform);
        jobs.push_back(job);
      }
  require_known_rungs(s, primitives, platforms);
  if (!s.params.empty())
    throw Error(Code::invalid_argument, "check chooses the launch shapes itself", "leave --param out");

  Output output(options.json, options.output);
  std::vector<lab::RungCheck> results;
  for (const Job& job : jobs) {
    const auto rungs = chosen_rungs(s, *job.primitive, *job.platform, {.peers = options.peers, .mutants = job.mutants});
    if (rungs.empty()) continue;
    lab::CheckOptions check;
    check.depth = options.quick ? quick_depth : job.depth;
    if (!s.types.empty()) check.types = chosen_types(s, *job.primitive, {});
    if (!s.ops.empty()) check.operations = chosen_operations(s, *job.primitive, {});
    check.inputs = s.inputs;
    require_known_inputs(s, *job.primitive, check.types);
    if (!s.sizes.empty()) check.sizes = lab::parse_sizes(s.sizes);
    Progress progress(fmt::format("check {} {}, problem", job.primitive->name(), to_string(job.platform->backend())));
    check.progress = [&](std::size_t done, std::size_t total) { progress.update(done, total); };
    for (lab::RungCheck& r : lab::check(*job.platform, job.emulator, *job.primitive, rungs, check)) {
      output.json_line(to_json(r));
      results.push_back(std::move(r));
    }
  }
  if (std::all_of(results.begin(), results.end(), [](const lab::RungCheck& r) { return r.runs == 0; }))
    throw Error(Code::invalid_argument, "nothing is left to check: no rung takes any of these cases",
                "see `upsweep devices`, --rung and -n");
  output.table(results_table(results, output.terminal()));
  output.commit();
  const bool passed =
      std::all_of(results.begin(), results.end(), [](const lab::RungCheck& r) { return r.runs == 0 || r.passed(); });
  return passed ? Exit::all_right : Exit::wrong_result;
}

}  // namespace

void add_check(CLI::App& app, int& exit_code) {
  add_command<Options>(app, exit_code, "check", "Check rungs against the oracle, on every available backend",
                       "  upsweep check reduce\n"
                       "  upsweep check reduce --backend simt --rung total --type f32 -n 1..2000\n"
                       "  upsweep check --quick\n",
                       declare, work);
}

}  // namespace upsweep::app

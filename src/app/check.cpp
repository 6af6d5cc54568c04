// upsweep check: verifies every rung's results.
#include "lab/check.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <sstream>

#include "app/command.h"
#include "app/output.h"
#include "app/select.h"
#include "lab/backends.h"
#include "lab/default_rung.h"
#include "lab/grid.h"
#include "lab/processes.h"
#include "lab/sizes.h"
#include "lab/time.h"

namespace upsweep::app {
namespace {

struct CheckOptions {
  CaseOptions cases;
  bool quick = false;
  bool peers = false;
  std::uint64_t schedule = 0;
  std::string thresholds;  // empty: both, where that is affordable
  std::uint64_t seed = 0;
  int fresh = -1;  // -1: the usual number
  std::size_t failures = lab::CheckOptions{}.most_failures;
  OutputOptions output;
  const CLI::Option* seed_option = nullptr;
};

// A quick check: the fixed sizes up to 4100, with one or two combinations of type, operator and input at each.
constexpr lab::Depth quick_depth{.every_combination_to = 0,
                                 .combinations = 2,
                                 .largest = 4'100,
                                 .own_shape_every = 64,
                                 .elements_of_size = 2'000,
                                 .random_sizes = 1};
// Depth for checking each ladder's choice with the usual thresholds on an emulator. Sort and partition take some
// seconds.
constexpr lab::Depth usual_depth{
    .every_combination_to = 0, .combinations = 6, .largest = lab::usual_sizes.back(), .own_shape_every = 4};
// Cases per primitive, on a CPU or GPU, that run in fresh processes.
constexpr std::size_t usual_fresh = 4;

void declare(CLI::App& command, CheckOptions& o) {
  declare_case_options(command, o.cases);
  declare_device(command, o.cases);
  command.add_flag("--quick", o.quick, "Small sizes, and a sample of the combinations of type, operator and input");
  one_of(command.add_option("--thresholds", o.thresholds,
                            "usual: the thresholds that users have; few: such that few elements reach the code beyond "
                            "them (default: few on emulators, but for the ladder's choice both; usual elsewhere, and "
                            "on GPUs a quick check with few)"),
         "thresholds", {"usual", "few"});
  add_number(command, "--schedule", o.schedule,
             "Emulators run the threads in arbitrary order, from this seed (default: 0, in the order of the grid)",
             std::uint64_t{0}, ~std::uint64_t{0});
  o.seed_option =
      add_number(command, "--seed", o.seed,
                 "Of the sizes that are drawn at random beside the fixed ones (default: another one in every run, "
                 "printed)",
                 std::uint64_t{0}, ~std::uint64_t{0});
  add_number(command, "--fresh", o.fresh,
             "Random cases of each primitive, on a CPU or GPU, that run in a process of their own too (default: 4; 0 "
             "with --quick or -n)",
             0, 10'000);
  add_number(command, "--failures", o.failures, "Abandon a rung after so many wrong cases (default: 5)", std::size_t{1},
             std::size_t{1'000'000'000});
  command.add_flag("--peers", o.peers, "Also check other libraries");
  declare_output(command, o.output, "results");
}

std::string to_json(const lab::RungCheck& r, std::optional<std::uint64_t> seed) {
  nlohmann::ordered_json json;
  json["primitive"] = r.rung->primitive;
  json["rung"] = r.rung->name;
  json["platform"] = r.platform;
  json["thresholds"] = to_string(r.thresholds);
  json["runs"] = r.runs;
  json["expected_wrong"] = r.rung->expected_wrong;
  json["passed"] = r.passed();
  if (r.rung->expected_wrong) json["caught"] = r.caught();
  json["failures"] = r.failures;
  if (seed) json["seed"] = *seed;
  return json.dump();
}

std::string results_table(const std::vector<lab::RungCheck>& results, const lab::Terminal& terminal) {
  lab::Grid grid({"rung", "platform", "runs", ""});
  std::string failures;
  for (const lab::RungCheck& r : results) {
    const char* verdict = r.runs == 0               ? "not run: takes none of these"
                          : !r.rung->expected_wrong ? (r.passed() ? "right" : "WRONG")
                          : r.caught()              ? "wrong on purpose, caught"
                          : r.narrowed              ? "wrong on purpose, not caught by these cases"
                                                    : "wrong on purpose, NOT caught";
    grid.add({{fmt::format("{}/{}", r.rung->primitive, r.rung->name)},
              {r.platform},
              {fmt::format("{}", r.runs)},
              {verdict, r.runs == 0  ? lab::Style::plain
                        : r.passed() ? lab::Style::good
                                     : lab::Style::bad}});
    if (r.runs > 0 && !r.passed())
      for (const std::string& failure : r.failures) failures += failure + "\n";
  }
  return grid.text(terminal) + (terminal.markdown && !failures.empty() ? "\n" : "") + failures;
}

bool draws_sizes(const CheckOptions& o) { return o.cases.sizes.empty(); }

// Rungs of one primitive on one platform; on an emulator one rung, checked in a child process.
struct Job {
  const Primitive* primitive;
  Platform* platform;
  simt::Emulator* emulator;  // non-null if the platform is an emulator
  lab::CheckOptions check;
  std::vector<const Rung*> rungs;
  std::uint64_t schedule = 0;  // see simt::Options
};

// A platform, and how thoroughly it is checked.
struct Configuration {
  Platform* platform;
  simt::Emulator* emulator;
  lab::Depth depth;
  lab::Thresholds thresholds;
  bool mutants, others;  // whether to check mutants, and more than the ladder's choice
};

std::vector<Configuration> configurations_of(Backend backend, const CheckOptions& options) {
  using lab::Thresholds;
  const bool both = options.thresholds.empty(), few = options.thresholds == "few";
  std::vector<Configuration> configurations;
  if (backend != Backend::simt) {
    Platform* const platform = &lab::open_platform(backend);
    configurations.push_back(
        {platform, nullptr, lab::full_depth, few ? Thresholds::few : Thresholds::usual, false, true});
    // CUDA only: on a CPU, the choice depends on no threshold.
    if (both && backend == Backend::cuda && draws_sizes(options))
      configurations.push_back({platform, nullptr, quick_depth, Thresholds::few, false, true});
    return configurations;
  }
  // The plain emulator is fast and finds wrong results. The traced one also finds races and out-of-bounds accesses, so
  // it runs the mutants.
  const Thresholds thresholds = both || few ? Thresholds::few : Thresholds::usual;
  configurations = {{&lab::open_plain(), &lab::open_plain(), lab::emulated_depth, thresholds, false, true},
                    {&lab::open_traced(), &lab::open_traced(), lab::traced_depth, thresholds, true, true}};
  if (both && draws_sizes(options))
    configurations.push_back({&lab::open_plain(), &lab::open_plain(), usual_depth, Thresholds::usual, false, false});
  return configurations;
}

// Throws unless every named input exists for at least one of the types; the check skips the input for the other types.
void require_known_inputs(const CaseOptions& s, const Primitive& primitive, std::vector<Type> types) {
  if (types.empty()) types = primitive.types();
  std::vector<std::string> known;
  for (const Type type : types)
    for (std::string& name : primitive.inputs(type))
      if (std::find(known.begin(), known.end(), name) == known.end()) known.push_back(std::move(name));
  for (const std::string& name : s.inputs)
    if (std::find(known.begin(), known.end(), name) == known.end()) throw unknown_name("input", name, known);
}

std::vector<Job> jobs_of(const CheckOptions& options) {
  const CaseOptions& s = options.cases;
  const auto primitives = chosen_primitives(s);
  emulate_device(s);
  std::vector<Configuration> configurations;
  for (const Backend backend : chosen_backends(s, lab::present_backends()))
    for (const Configuration& configuration : configurations_of(backend, options))
      configurations.push_back(configuration);
  std::vector<Platform*> platforms;
  for (const Configuration& configuration : configurations) platforms.push_back(configuration.platform);
  require_known_rungs(s, primitives, platforms);
  const bool emulated =
      std::any_of(configurations.begin(), configurations.end(), [](const Configuration& p) { return p.emulator; });
  if (options.schedule && !emulated)
    throw Error(Code::invalid_argument, "--schedule applies only to emulators", "add --backend simt, or omit it");
  if (!s.device.empty() && !emulated)
    throw Error(Code::invalid_argument, "--device applies only to emulators", "add --backend simt, or omit it");
  if (options.peers &&
      std::all_of(configurations.begin(), configurations.end(), [](const Configuration& p) { return p.emulator; }))
    throw Error(Code::invalid_argument, "the emulators have no peers", "omit --peers");
  if (options.fresh > 0 &&
      std::all_of(configurations.begin(), configurations.end(), [](const Configuration& p) { return p.emulator; }))
    throw Error(Code::invalid_argument, "--fresh applies only to CPU and GPUs: emulated rungs always run in a child",
                "add --backend cpu, or omit it");

  std::vector<Job> jobs;
  for (const Primitive* primitive : primitives)
    for (const Configuration& configuration : configurations) {
      auto rungs =
          chosen_rungs(s, *primitive, *configuration.platform,
                       {.peers = options.peers, .mutants = configuration.mutants, .choice = !configuration.mutants});
      if (!configuration.others) std::erase_if(rungs, [](const Rung* rung) { return !lab::is_default(*rung); });
      if (rungs.empty()) continue;
      lab::Depth depth = options.quick ? quick_depth : configuration.depth;
      if (!configuration.others) depth.largest = configuration.depth.largest;
      lab::CheckOptions check{.depth = depth,
                              .thresholds = configuration.thresholds,
                              .types = chosen_types(s, *primitive, primitive->types()),
                              .operations = chosen_operations(s, *primitive, {}),
                              .inputs = s.inputs,
                              .seed = options.seed,
                              .most_failures = options.failures};
      require_known_inputs(s, *primitive, check.types);
      if (!s.params.empty()) {
        Case given{.type = check.types.front(),
                   .operation = check.operations.empty() ? primitive->operations().front() : check.operations.front()};
        set_params(s, *primitive, configuration.platform->backend(), given);
        if (!given.settings.empty()) check.settings = given.settings;
        check.tuning = given.tuning;
      }
      if (!s.sizes.empty())
        check.sizes = lab::parse_sizes(s.sizes);
      else if (configuration.emulator && configuration.thresholds == lab::Thresholds::usual)
        check.sizes = lab::usual_sizes_of(*primitive);
      const Description description = configuration.platform->describe();
      for (const Type type : check.types)
        for (const std::size_t n : check.sizes.empty() ? std::vector<std::size_t>{0} : check.sizes)
          lab::require_room(*configuration.platform, description, {.type = type, .n = n, .tuning = check.tuning},
                            lab::Purpose::check);
      if (!configuration.emulator)
        jobs.push_back({primitive, configuration.platform, nullptr, check, rungs, 0});
      else
        for (const Rung* rung : rungs)
          jobs.push_back({primitive, configuration.platform, configuration.emulator, check, {rung}, options.schedule});
    }
  std::vector<const Rung*> checked;
  for (const Job& job : jobs) checked.insert(checked.end(), job.rungs.begin(), job.rungs.end());
  require_readers(s, chosen_backends(s, lab::present_backends()), checked);
  return jobs;
}

// Runs the emulated jobs in parallel; results are in the order of `jobs`.
std::vector<lab::RungCheck> run_emulated(const std::vector<const Job*>& jobs) {
  if (jobs.empty()) return {};
  Progress progress("check simt, rung");
  progress.update(0, jobs.size());
  const auto answers = lab::in_processes(
      jobs.size(),
      [&](std::size_t k) {
        const Job& job = *jobs[k];
        // Two threads, so that blocks still run concurrently; the other cores run other jobs.
        job.emulator->configure({.threads = 2, .schedule = job.schedule});
        const lab::RungCheck result =
            lab::check(*job.platform, job.emulator, *job.primitive, job.rungs, job.check).front();
        return fmt::format("{}\n{}", result.runs, fmt::join(result.failures, "\n"));
      },
      [&](std::size_t done) { progress.update(done, jobs.size()); });
  std::vector<lab::RungCheck> results;
  for (std::size_t k = 0; k < jobs.size(); ++k) {
    const lab::Answer& answer = answers[k];
    const Job& job = *jobs[k];
    lab::RungCheck result{.rung = job.rungs.front(),
                          .platform = lab::platform_name(*job.platform, job.emulator, job.check.thresholds),
                          .thresholds = *job.check.thresholds};
    if (answer.error.empty()) {
      std::istringstream lines(answer.text);
      lines >> result.runs >> std::ws;
      for (std::string failure; std::getline(lines, failure);) result.failures.push_back(std::move(failure));
    } else {
      result.runs = 1;
      result.failures = {fmt::format("{}/{} {}: its process: {}", result.rung->primitive, result.rung->name,
                                     result.platform, answer.error)};
    }
    results.push_back(std::move(result));
  }
  return results;
}

// A case of a job's rung, to run in a fresh process.
struct FreshCase {
  const Job* job;
  lab::DrawnCase drawn;
};

std::vector<FreshCase> fresh_cases(const CheckOptions& options, const std::vector<Job>& jobs) {
  const std::size_t usual = options.quick || !draws_sizes(options) ? 0 : usual_fresh;
  const std::size_t count = options.fresh < 0 ? usual : static_cast<std::size_t>(options.fresh);
  std::vector<FreshCase> cases;
  for (const Job& job : jobs)
    if (!job.emulator && (!options.thresholds.empty() || job.check.thresholds == lab::Thresholds::usual))
      for (const lab::DrawnCase& drawn : lab::draw_cases(*job.primitive, job.rungs, job.check, count))
        cases.push_back({&job, drawn});
  return cases;
}

// Returns the command-line arguments that check one case of one rung.
std::vector<std::string> arguments_of(const FreshCase& fresh) {
  const Case& c = fresh.drawn.c;
  std::vector<std::string> arguments{"check", std::string(fresh.job->primitive->name())};
  const auto add = [&](const char* option, std::string_view value) {
    arguments.emplace_back(option);
    arguments.emplace_back(value);
  };
  add("--backend", to_string(fresh.job->platform->backend()));
  add("--rung", fresh.drawn.rung->name);
  add("--type", to_string(c.type));
  if (c.operation) add("--op", c.operation.name());
  add("--input", c.input);
  add("-n", fmt::format("{}", c.n));
  // A drawn case may have parameters that its operation does not read; the command line would reject them.
  const auto read = fresh.job->primitive->parameters_of(c.operation);
  Settings settings;
  for (const Settings::Item& item : c.settings)
    if (std::find(read.begin(), read.end(), item.parameter) != read.end()) settings.set(*item.parameter, item.value);
  for (const auto& [name, value] : texts_of(settings, c.tuning)) add("--param", fmt::format("{}={}", name, value));
  add("--fresh", "0");
  add("--thresholds", to_string(*fresh.job->check.thresholds));
  arguments.emplace_back("--json");
  return arguments;
}

// Runs the cases and returns the results by rung.
std::map<const Rung*, lab::RungCheck> run_fresh(const std::vector<FreshCase>& cases) {
  std::map<const Rung*, lab::RungCheck> results;
  if (cases.empty()) return results;
  Progress progress("check in fresh processes, case");
  progress.update(0, cases.size());
  const auto answers = lab::in_processes(
      cases.size(), [&](std::size_t k) { return lab::output_of_this_program(arguments_of(cases[k])); },
      [&](std::size_t done) { progress.update(done, cases.size()); });
  for (std::size_t k = 0; k < cases.size(); ++k) {
    const lab::Answer& answer = answers[k];
    const Rung& rung = *cases[k].drawn.rung;
    lab::RungCheck& result = results[&rung];
    result.thresholds = *cases[k].job->check.thresholds;
    // The answer is one line of JSON. Progress may precede it, and if the rung refuses the case, a message follows it.
    const std::size_t begin = answer.text.rfind("{\"");
    const std::string line =
        begin == std::string::npos ? std::string() : answer.text.substr(begin, answer.text.find('\n', begin) - begin);
    const auto json = nlohmann::ordered_json::parse(line, nullptr, false);
    if (json.is_object()) {
      result.runs += json["runs"].get<std::size_t>();
      for (const auto& failure : json["failures"])
        result.failures.push_back(failure.get<std::string>() + " (in a fresh process)");
    } else {
      ++result.runs;
      result.failures.push_back(fmt::format("{}/{} {} {}: its process: {}", rung.primitive, rung.name,
                                            to_string(rung.backend), lab::describe(cases[k].drawn.c),
                                            answer.error.empty() ? answer.text : answer.error));
    }
  }
  return results;
}

int work(const CheckOptions& given) {
  CheckOptions options = given;
  const bool draws = draws_sizes(options) || options.fresh > 0;
  const bool seeded = options.seed_option->count() > 0;
  if (seeded && !draws)
    throw Error(Code::invalid_argument, "--seed: with -n, nothing is random", "omit --seed, or add --fresh");
  if (!seeded) options.seed = 1 + std::random_device{}() % 999'999;
  const std::vector<Job> jobs = jobs_of(options);
  Output output(options.output);

  // The emulators first: fork() copies only the calling thread, and the other platforms start threads.
  std::vector<const Job*> emulated;
  for (const Job& job : jobs)
    if (job.emulator) emulated.push_back(&job);
  std::vector<lab::RungCheck> results, of_emulators = run_emulated(emulated);
  auto fresh = run_fresh(fresh_cases(options, jobs));
  auto next = of_emulators.begin();
  const CaseOptions& s = options.cases;
  const bool narrowed =
      !s.sizes.empty() || !s.types.empty() || !s.ops.empty() || !s.inputs.empty() || !s.params.empty();
  const auto add = [&](lab::RungCheck&& result) {
    result.narrowed = narrowed;
    const auto found = fresh.find(result.rung);
    if (found != fresh.end() && found->second.thresholds == result.thresholds) {
      result.runs += found->second.runs;
      for (std::string& failure : found->second.failures) result.failures.push_back(std::move(failure));
    }
    output.json_line(to_json(result, draws ? std::optional(options.seed) : std::nullopt));
    results.push_back(std::move(result));
  };
  for (const Job& job : jobs) {
    if (job.emulator) {
      add(std::move(*next++));
      continue;
    }
    Progress progress(fmt::format("check {} {}, problem", job.primitive->name(), to_string(job.platform->backend())));
    lab::CheckOptions check = job.check;
    check.progress = [&](std::size_t done, std::size_t total) { progress.update(done, total); };
    for (lab::RungCheck& r : lab::check(*job.platform, nullptr, *job.primitive, job.rungs, check)) add(std::move(r));
  }
  if (std::all_of(results.begin(), results.end(), [](const lab::RungCheck& r) { return r.runs == 0; }))
    throw Error(Code::invalid_argument, "nothing to check: no rung takes any of these cases",
                "see `upsweep devices`, --rung and -n");
  output.table(results_table(results, output.terminal()));
  const char* const gap = output.terminal().markdown ? "\n" : "";
  if (draws) output.table(fmt::format("{}drawn at random: --seed {}\n", gap, options.seed));
  output.commit();
  const bool passed =
      std::all_of(results.begin(), results.end(), [](const lab::RungCheck& r) { return r.runs == 0 || r.passed(); });
  return passed ? Exit::all_right : Exit::wrong_result;
}

}  // namespace

void add_check(CLI::App& app, int& exit_code) {
  add_command<CheckOptions>(app, exit_code, "check", "Check rungs against the oracle, on every available backend",
                            "  upsweep check reduce\n"
                            "  upsweep check reduce --backend simt --rung total --type f32 -n 1..2000\n"
                            "  upsweep check histogram --rung slices --param bins=70000\n"
                            "  upsweep check --quick\n",
                            declare, work);
}

}  // namespace upsweep::app

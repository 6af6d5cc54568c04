// upsweep bench: times rungs and peers, and prints or records their scores.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "app/bench_group.h"
#include "app/command.h"
#include "app/output.h"
#include "app/select.h"
#include "files/quoted.h"
#include "lab/backends.h"
#include "lab/check.h"
#include "lab/record.h"
#include "lab/sizes.h"
#include "lab/table.h"
#include "lab/time.h"
#include "revision.h"
#include "upsweep/tuning.h"

namespace upsweep::app {
namespace {

struct BenchOptions {
  CaseOptions cases;
  bool peers = true;
  std::string situation = "back_to_back";
  bool from_host = false;
  bool story = false;
  bool append = false, resume = false;
  int samples = 20;
  std::string devices;
  bool per_device = false;
  double min_time = 0;
  OutputOptions output;
};

// One size that fits in cache, two in between and one that does not: enough to show the shape of every ladder.
constexpr const char* default_sizes = "2^10,2^16,2^20,2^24";
// Up to this many sizes get a table each; more share one table with a column per size.
constexpr std::size_t most_tables = 4;

void declare(CLI::App& command, BenchOptions& o) {
  declare_case_options(command, o.cases);
  command.add_flag("--peers,!--no-peers", o.peers, "Time other libraries in the same run (default: yes)");
  one_of(command.add_option(
             "--situation", o.situation,
             "Surroundings of each call: back_to_back (default), alone, warm (on the same arrays) or mixed"),
         "situation", {lab::situation_names.begin(), lab::situation_names.end()});
  command.add_flag("--from-host", o.from_host, "Time rungs that take arrays in host memory instead of device memory");
  add_number(command, "--samples", o.samples, "Samples per contestant (default: 20)", 4, 100'000);
  command.add_flag("--story", o.story, "Print each rung's idea and prediction after the tables");
  add_number(command, "--min-time", o.min_time,
             "Seconds that the samples of each contestant at each case take together, at the least: short ones get "
             "more samples (default: 0)",
             0., 3600.);
  auto* const devices = command.add_option(
      "--devices", o.devices, "Time calls of groups of so many devices beside one, by the host's clock: 1,2,4");
  command.add_flag("--per-device", o.per_device, "-n is the number of elements of each device, not of all")
      ->needs(devices);
  declare_output(command, o.output, "records");
  auto* file = command.get_option("--output");
  command.add_flag("--append", o.append, "Keep the records that are in the file of -o, and add the new ones")
      ->needs(file);
  command
      .add_flag("--resume", o.resume,
                "Like --append, but skip cases whose records, of this revision and device, are in the file")
      ->needs(file);
}

// All measurements of one invocation, in order.
class Bench {
 public:
  Bench(const BenchOptions& options, Output& output) : options_(options), output_(output) {}

  // Lists all cases before any is timed, so that every name is checked, every case is known to fit, and the time
  // estimate is accurate.
  void plan(const Primitive& primitive, Backend backend, Platform& platform) {
    const CaseOptions& s = options_.cases;
    using Arrays = RungFilter::Arrays;
    const auto rungs =
        chosen_rungs(s, primitive, platform,
                     {.arrays = options_.from_host ? Arrays::host : Arrays::device, .peers = options_.peers});
    if (rungs.empty()) return;
    const Description description = platform.describe();
    for (const Type type : chosen_types(s, primitive, {Type::f32}))
      for (const Operation operation : chosen_operations(s, primitive, {primitive.operations().front()})) {
        const auto inputs = chosen_inputs(s, primitive, type);
        const bool by_input = primitive.own_size && s.sizes.empty();  // inputs with fixed sizes share a table
        for (const std::string& input : inputs) {
          if (!by_input || input == inputs.front()) series_.push_back({&primitive, backend, rungs, {}, by_input});
          for (const std::size_t n : chosen_sizes(s, primitive, input, default_sizes)) {
            Case& c =
                series_.back().cases.emplace_back(Case{.type = type, .operation = operation, .n = n, .input = input});
            set_params(s, primitive, backend, c);
            require_rung_for(primitive, rungs, c);
            lab::require_room(platform, description, c);
            ++cases_;
          }
        }
      }
  }

  bool empty() const { return series_.empty(); }
  // Returns the rungs and peers of all cases.
  std::vector<const Rung*> rungs() const {
    std::vector<const Rung*> all;
    for (const Series& series : series_) all.insert(all.end(), series.rungs.begin(), series.rungs.end());
    return all;
  }
  std::size_t skipped() const { return skipped_; }

  // Reads the records that the file of -o already contains, and begins the new file with them.
  void keep(const std::string& file) {
    if (!std::filesystem::exists(file) || std::filesystem::is_empty(file)) return;
    earlier_ = lab::read_records(file);
    std::ifstream text(file, std::ios::binary);
    std::string lines(std::istreambuf_iterator<char>(text), {});
    if (lines.back() != '\n') lines += '\n';
    output_.begin_file_with(lines);
    if (!options_.resume) earlier_.clear();
  }

  void run(Backend backend, Platform& platform) {
    lab::Stopwatch stopwatch(platform);
    const auto identity = lab::identify(stopwatch.description());
    output_.table(fmt::format("{}\n", styled(output_.terminal(), lab::Style::strong, identity.description.device)));
    for (const Series& series : series_)
      if (series.backend == backend) run(series, platform, stopwatch, identity);
    for (const lab::Ceiling& ceiling : stopwatch.ceilings()) {
      const lab::Record record = make_record(identity, backend, ceiling);
      output_.record(record);
      if (!record.timed()) continue;
      output_.table(
          fmt::format("ceiling {}: {}\n", ceiling.kind,
                      ceiling.bytes ? fmt::format("{:.4g} GB/s", record.gbs()) : lab::time_text(*record.median_us)));
    }
    if (backend != Backend::cpu) return;
    for (const Learnt& l : learnt())
      output_.table(fmt::format("learnt: {}: {}, {} on one core, {} on all\n", l.calls,
                                l.all_cores ? "all cores" : "one core", lab::time_text(l.one_core_us),
                                lab::time_text(l.all_cores_us)));
  }

  bool failed() const { return failed_; }
  bool any_ran() const { return any_ran_; }
  // True if a contestant rejected its launch shape or case, or if the laboratory could not make a case.
  bool any_refused() const { return refused_; }
  // Returns the file that keeps the finished records if the program is interrupted.
  const std::optional<std::string>& kept() const { return kept_; }

 private:
  struct Series {
    const Primitive* primitive;
    Backend backend;
    std::vector<const Rung*> rungs;
    std::vector<Case> cases;  // ascending n
    bool by_input = false;    // the cases are one per input instead
  };

  void run(const Series& series, Platform& platform, lab::Stopwatch& stopwatch, const lab::RunIdentity& identity) {
    const bool table_each = !series.by_input && series.cases.size() <= most_tables;
    std::vector<lab::Record> all;
    for (const Case& c : series.cases) {
      if (stands(series, c, identity)) {
        ++skipped_, ++done_;
        continue;
      }
      progress_.update(done_++, cases_, fmt::format("{} {}", series.primitive->name(), lab::describe(c)));
      say_if_no_peer_takes(series, c);
      std::vector<lab::Measurement> measurements;
      try {
        measurements = stopwatch.measure(
            *series.primitive, c, series.rungs,
            {.samples = options_.samples, .situation = situation_, .least_us = options_.min_time * 1e6});
      } catch (const Error& error) {  // the laboratory cannot make this case; others may work
        if (error.code() != Code::unsupported) throw;
        refused_ = true;
        progress_.clear();
        message(fmt::format("not run: {} {}: {}", series.primitive->name(), lab::describe(c), error.what()));
        continue;
      }
      std::vector<lab::Record> records;
      std::string notes;
      for (const lab::Measurement& measured : measurements) {
        if (measured.refused) {
          refused_ = true;
          notes += fmt::format("not run: {}/{} {}: {}\n", series.primitive->name(), measured.rung->name,
                               lab::describe(c), *measured.refused);
          continue;
        }
        any_ran_ = true;
        records.push_back(make_record(identity, *series.primitive, c, situation_, measured,
                                      stopwatch.ceiling(measured.traffic.ceiling)));
        if (lab::is_default(*measured.rung))
          records.back().ran = lab::Choices(*series.primitive, c).of(c.n, platform.machine()).rung;
        output_.record(records.back());
        kept_ = output_.keep_if_interrupted();
        if (!measured.failure) continue;
        failed_ = true;
        notes += fmt::format("(F) {}/{} {}: {}\n", series.primitive->name(), measured.rung->name, lab::describe(c),
                             *measured.failure);
      }
      progress_.clear();
      if (!notes.empty()) message(notes.substr(0, notes.size() - 1));
      if (records.empty()) continue;
      if (table_each)
        output_.table(fmt::format("\n{} {}{}\n{}", series.primitive->name(), lab::describe(c), situation_text(),
                                  score_table(records, output_.terminal())));
      all.insert(all.end(), records.begin(), records.end());
    }
    if (all.empty()) return;
    if (series.by_input) {
      output_.table(fmt::format("\n{} {}{}\n{}", series.primitive->name(), type_and_op(all.front()), situation_text(),
                                input_table(all, output_.terminal())));
      if (series.primitive->published) output_.table("\n" + series.primitive->published(all, output_.terminal()));
    } else if (!table_each) {
      const Case& c = series.cases.front();
      output_.table(fmt::format("\n{} {} input={}{}, GB/s\n{}", series.primitive->name(), type_and_op(all.front()),
                                c.input, situation_text(), sweep_table(all, output_.terminal())));
    }
    if (options_.story) output_.table(stories(series.rungs));
    output_.table("\n");
  }

  // Says once per primitive and type that no CPU peer is compiled for the type: otherwise a table without peers would
  // look as if no library had a competing function.
  void say_if_no_peer_takes(const Series& series, const Case& c) {
    const auto is_peer = [](const Rung* rung) { return rung->peer; };
    const auto takes = [&](const Rung* rung) { return rung->peer && rung->find(c.type, c.operation); };
    if (series.backend != Backend::cpu || std::ranges::none_of(series.rungs, is_peer) ||
        std::ranges::any_of(series.rungs, takes) || !without_peers_.emplace(series.primitive, c.type).second)
      return;
    progress_.clear();
    message(
        fmt::format("no peer of {} is compiled for {} (CPU peers take i32 and f32, unless cmake has "
                    "-DUPSWEEP_PEERS_EVERY_TYPE=ON)",
                    series.primitive->name(), to_string(c.type)));
  }

  // True if the file has a record of every contestant that takes the case. Records contain only the tuning that was
  // read, so a record with part of the case's tuning counts if another record of its run has all of it. False for a
  // dirty work tree, which no revision identifies.
  bool stands(const Series& series, const Case& c, const lab::RunIdentity& identity) const {
    if (earlier_.empty() || std::string_view(revision).ends_with("dirty")) return false;
    const auto expected = [&](const Rung& rung, const Tuning& tuning) {
      return make_record(identity, *series.primitive, c, situation_, {.rung = &rung, .tuning = tuning}, nullptr);
    };
    const auto same = [](const lab::Record& r, const lab::Record& wanted) {
      return r.timed() && case_of(r) == case_of(wanted) && r.device == wanted.device && r.driver == wanted.driver &&
             r.compiler == wanted.compiler && r.flags == wanted.flags && r.revision == wanted.revision &&
             r.tuning == wanted.tuning;
    };
    std::set<std::string> complete_runs;
    for (const Rung* rung : series.rungs)
      for (const lab::Record& r : earlier_)
        if (same(r, expected(*rung, c.tuning))) complete_runs.insert(r.run);
    return std::all_of(series.rungs.begin(), series.rungs.end(), [&](const Rung* rung) {
      if (!rung->find_for(c.type, c.operation, c.n)) return true;
      return std::any_of(earlier_.begin(), earlier_.end(), [&](const lab::Record& r) {
        if (!complete_runs.contains(r.run)) return false;
        Tuning tuning;
        for (const TuningField& field : tuning_fields())
          if (std::any_of(r.params.begin(), r.params.end(), [&](const auto& p) { return p.first == field.name; }))
            field.set(tuning, field.get(c.tuning));
        return same(r, expected(*rung, tuning));
      });
    });
  }

  std::string situation_text() const {
    return situation_ == lab::Situation::back_to_back ? "" : " " + std::string(to_string(situation_));
  }

  std::string stories(const std::vector<const Rung*>& rungs) const {
    std::string text;
    for (const Rung* rung : rungs)
      if (!rung->peer)
        text += fmt::format("  {}: {}; predicted: {}\n", styled(output_.terminal(), lab::Style::strong, rung->name),
                            rung->story.idea, rung->story.prediction);
    return text;
  }

  const BenchOptions& options_;
  const lab::Situation situation_ = *lab::parse_situation(options_.situation);
  Output& output_;
  Progress progress_{"case"};
  std::vector<Series> series_;
  std::vector<lab::Record> earlier_;  // the file's records, for --resume
  std::size_t cases_ = 0, done_ = 0, skipped_ = 0;
  bool failed_ = false, refused_ = false, any_ran_ = false;
  std::set<std::pair<const Primitive*, Type>> without_peers_;
  std::optional<std::string> kept_;
};

int work(const BenchOptions& options) {
  const auto primitives = chosen_primitives(options.cases);
  std::vector<Backend> present = lab::present_backends();
  std::erase(present, Backend::simt);
  const auto backends = chosen_backends(options.cases, present);
  std::vector<Platform*> platforms;
  for (const Backend backend : backends) {
    if (backend == Backend::simt)
      throw Error(Code::invalid_argument, "the emulator's times are meaningless",
                  "use `upsweep explain` for emulated kernels");
    platforms.push_back(&lab::open_platform(backend));
  }
  require_known_rungs(options.cases, primitives, platforms);
  if (options.story && !prints_tables(options.output))
    throw Error(Code::invalid_argument, "--story follows the tables, but there are none", "omit --story or --json");
  if ((options.append || options.resume) && options.output.file == "-")
    throw Error(Code::invalid_argument,
                fmt::format("{} keeps the records of a file", options.append ? "--append" : "--resume"),
                "name it with -o");
  Output output(options.output);
  if (!options.devices.empty() &&
      (options.situation != "back_to_back" || options.from_host || options.append || options.resume || options.story))
    throw Error(Code::invalid_argument, "--devices times single calls, by the host's clock",
                "omit --situation, --from-host, --append, --resume and --story");
  if (!options.devices.empty())
    return bench_groups({options.cases, options.devices, options.per_device, options.samples}, output);
  Bench bench(options, output);
  for (std::size_t i = 0; i < backends.size(); ++i)
    for (const Primitive* primitive : primitives) bench.plan(*primitive, backends[i], *platforms[i]);
  const std::vector<const Rung*> rungs = bench.rungs();
  require_readers(options.cases, backends, rungs);
  if (options.append || options.resume) bench.keep(options.output.file);
  if (bench.empty()) throw Error(Code::invalid_argument, "no rung is left to time", "see `upsweep devices` and --rung");
  const auto takes_host = [](const Rung* rung) { return rung->from_host() && !rung->peer; };
  if (options.from_host && std::none_of(rungs.begin(), rungs.end(), takes_host))
    throw Error(Code::invalid_argument, "--from-host: none of these rungs takes arrays in host memory",
                "omit it, or see `upsweep list` for rungs that do");
  try {
    for (std::size_t i = 0; i < backends.size(); ++i) bench.run(backends[i], *platforms[i]);
  } catch (const Error& error) {
    if (error.code() == Code::interrupted && bench.kept())
      throw Error(Code::interrupted, fmt::format("interrupted; finished records are in {}", *bench.kept()));
    throw;
  }
  if (bench.skipped() > 0)
    message(fmt::format("{} case{} already in {}", bench.skipped(), bench.skipped() == 1 ? " is" : "s are",
                        printable(options.output.file)));
  else if (!bench.any_ran() && bench.any_refused())
    throw Error(Code::unsupported, "nothing was timed: every contestant rejects this case", "omit --param");
  else if (!bench.any_ran())
    throw Error(Code::unsupported, "nothing was timed: no rung takes any of these cases",
                "see --type, --op and --rung");
  output.commit();
  return bench.failed() ? Exit::wrong_result : Exit::all_right;
}

}  // namespace

void add_bench(CLI::App& app, int& exit_code) {
  add_command<BenchOptions>(
      app, exit_code, "bench", "Time rungs and peers beside the machine's measured ceiling",
      "  upsweep bench reduce\n"
      "  upsweep bench reduce --type i32,f32 --op max -n 2^10..2^27 -o results.jsonl\n"
      "  upsweep bench reduce --rung simd,parallel --no-peers --json | jq .score\n"
      "  upsweep bench saxpy --from-host --backend cuda -n 2^29\n"
      "  upsweep bench -o results.jsonl --resume     after an interruption: mv results.jsonl.partial results.jsonl\n"
      "  upsweep bench scan --format markdown >scan.md\n"
      "An interrupted run leaves its finished records in FILE.partial, and FILE as it was.\n"
      "Records in a file repeat little; `upsweep report show FILE --json` prints all their fields.\n",
      declare, work);
}

}  // namespace upsweep::app

// upsweep compare: finds regressions between two runs.
#include "lab/compare.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/command.h"
#include "app/output.h"

namespace upsweep::app {
namespace {

struct CompareOptions {
  std::string before, after;
  bool across = false;
  bool all = false;
  double threshold = 0;
  bool require_all = false;
  OutputOptions output;
};

void declare(CLI::App& command, CompareOptions& o) {
  command.add_option("before", o.before, "Records of the earlier run (JSON lines; - for standard input)")->required();
  command.add_option("after", o.after, "Records of the later run")->required();
  command.add_flag("--across", o.across, "Compare runs from different devices, drivers, compilers or flags");
  command.add_flag("--all", o.all, "Also show unchanged cases in the table; JSON and CSV always have every case");
  add_number(command, "--threshold", o.threshold,
             "Per cent: a smaller change counts as none, even beyond the noise (default: 0)", 0., 1e6);
  command.add_flag("--require-all", o.require_all,
                   "A case of the earlier run that the later one lacks is a regression");
  declare_output(command, o.output, "comparison");
}

int work(const CompareOptions& o) {
  if (o.all && !prints_tables(o.output))
    throw Error(Code::invalid_argument, "--all applies to tables only: JSON and CSV have every case", "omit --all");
  const auto before = lab::read_records(o.before), after = lab::read_records(o.after);
  const auto comparisons = lab::compare(before, after, o.across, o.threshold / 100);
  const bool in_common = std::any_of(comparisons.begin(), comparisons.end(), [](const lab::Comparison& c) {
    return !c.is_ceiling && c.change != lab::Change::missing && c.change != lab::Change::added;
  });
  if (!in_common)
    throw Error(Code::invalid_argument, fmt::format("{} and {} have no case in common", o.before, o.after),
                "a case is a rung or peer, backend, type, operation, n, input, situation and parameters");
  Output output(o.output);
  for (const lab::Comparison& c : comparisons) output.json_line(to_json(c));
  output.table(comparison_table(comparisons, o.all, output.terminal()));
  output.commit();
  const bool regressed = std::any_of(comparisons.begin(), comparisons.end(), [&](const lab::Comparison& c) {
    return c.regression() || (o.require_all && !c.is_ceiling && c.change == lab::Change::missing);
  });
  return regressed ? Exit::regression : Exit::all_right;
}

}  // namespace

void add_compare(CLI::App& app, int& exit_code) {
  add_command<CompareOptions>(
      app, exit_code, "compare", "Tell regressions from noise between two recorded runs",
      "  upsweep compare before.jsonl after.jsonl\n"
      "  upsweep compare results/h200/reduce.jsonl new.jsonl --all\n"
      "  upsweep compare before.jsonl after.jsonl --threshold 5 --require-all --format markdown\n"
      "A regression is slower by more than the noise of both runs, with disjoint quartiles: exit 3.\n",
      declare, work);
}

}  // namespace upsweep::app

// upsweep tune: finds the crossovers between rungs on this machine.
#include "lab/tune.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "app/command.h"
#include "app/output.h"
#include "app/select.h"
#include "files/file.h"
#include "lab/backends.h"
#include "lab/grid.h"
#include "lab/record.h"
#include "lab/sizes.h"
#include "revision.h"
#include "upsweep/tuning.h"

namespace upsweep::app {
namespace {

struct TuneOptions {
  std::vector<std::string> primitives;
  std::string backend, out;
  OutputOptions output;
};

void declare(CLI::App& command, TuneOptions& o) {
  offer_primitives(command.add_option("primitive", o.primitives, "Primitives: sort, ... (default: all)"));
  one_of(command.add_option("--backend", o.backend, "cpu or cuda (default: the GPU if there is one)"), "backend",
         {"cpu", "cuda"});
  command.add_option("--out", o.out,
                     "Write the values to this file, which UPSWEEP_TUNING=FILE or upsweep::load_tuning() reads");
  declare_output(command, o.output);
}

std::string file_text(const Description& description, const std::vector<lab::Tuned>& all) {
  std::string text = fmt::format(
      "# Thresholds that `upsweep tune` measured; UPSWEEP_TUNING=FILE in the environment uses them.\n"
      "# device: {}\n# driver: {}\n# date: {}\n# version: upsweep {} ({})\n",
      description.device, description.driver, lab::identify(description).time, version, revision);
  for (const lab::Tuned& t : all) text += fmt::format("{} = {}\n", t.threshold, t.here);
  return text;
}

int work(const TuneOptions& o) {
  const CaseOptions cases{.primitives = o.primitives};
  std::vector<const Primitive*> chosen(primitives().begin(), primitives().end());
  if (!o.primitives.empty()) chosen = chosen_primitives(cases);
  const Backend backend = o.backend == "cuda" || (o.backend.empty() && cuda_platform()) ? Backend::cuda : Backend::cpu;
  Platform& platform = lab::open_platform(backend);
  Output output(o.output);
  std::optional<OutputFile> file;
  if (!o.out.empty()) file.emplace(o.out);

  std::size_t total = 0, done = 0;
  for (const Primitive* primitive : chosen) total += primitive->probes.size();
  Progress progress("tune, threshold");
  reset_tuning();  // starts from the measured values, whatever a file says
  const lab::RunRace race = lab::race_on(platform);
  std::vector<lab::Tuned> all;
  lab::Grid grid({"threshold", "measured", "here", "gain at the measured edge", "up to", "beyond"});
  for (const Primitive* primitive : chosen)
    for (const lab::Probe& probe : primitive->probes) {
      progress.update(done++, total, probe.threshold.name());
      std::optional<lab::Tuned> tuned;
      try {
        tuned = lab::tune(platform, *primitive, probe, race);
      } catch (const Error& error) {  // a small GPU may lack memory for it; the others can still be tuned
        if (error.code() != Code::unsupported && error.code() != Code::out_of_memory) throw;
        progress.clear();
        message(fmt::format("{}.{} is skipped: {}", primitive->name(), probe.threshold.name(), error.what()));
      }
      if (!tuned) continue;
      all.push_back(*tuned);
      const bool moved = tuned->here != tuned->measured;
      grid.add({{tuned->threshold},
                {lab::size_text(tuned->measured)},
                {moved ? lab::size_text(tuned->here) : "stays", moved ? lab::Style::strong : lab::Style::plain},
                {tuned->gain == 0 ? "tie" : fmt::format("{:.1f} %", 100 * tuned->gain)},
                {std::string(tuned->small)},
                {std::string(tuned->large)}});
      output.json_line(nlohmann::ordered_json{
          {"threshold", tuned->threshold},
          {"measured", tuned->measured},
          {"here", tuned->here},
          {"gain", tuned->gain},
          {"axis", probe.axis},
          {"edge", tuned->edge},
          {"up_to", tuned->small},
          {"beyond",
           tuned->large}}.dump());
    }
  progress.clear();
  const Description description = platform.describe();
  if (all.empty())
    message(fmt::format("no threshold decides a call on {} ({}): there is nothing to tune", to_string(backend),
                        description.device));
  else
    output.table(grid.text(output.terminal()));
  output.commit();
  if (file) {
    const std::string text = file_text(description, all);
    file->write(std::as_bytes(std::span(text)));
    file->commit();
  }
  return Exit::all_right;
}

}  // namespace

void add_tune(CLI::App& app, int& exit_code) {
  add_command<TuneOptions>(app, exit_code, "tune", "Measure where rungs take over from each other on this machine",
                           "  upsweep tune --out h100.tuning\n"
                           "  upsweep tune sort partition --backend cuda\n"
                           "  UPSWEEP_TUNING=h100.tuning upsweep list --thresholds\n",
                           declare, work);
}

}  // namespace upsweep::app

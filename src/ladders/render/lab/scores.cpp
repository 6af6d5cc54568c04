#include "ladders/render/lab/scores.h"

#include <fmt/format.h>

#include <algorithm>

#include "lab/grid.h"
#include "lab/table.h"
#include "ladders/render/lab/scenes.h"

namespace upsweep::ladders::render {
namespace {

// Published times, in ms per frame of 1024 x 1024 pixels; 0: unknown. `reference_ms` is that of the reference renderer
// of the coursework that most scenes come from, on a T4-class GPU; `best_ms` is the best in write-ups of that
// coursework, on a T4.
struct Published {
  std::string_view scene;
  double reference_ms, best_ms;
};
constexpr Published published[] = {{"rgb", .265, 0},        {"pattern", .408, 0},      {"rand10k", 3.08, 0},
                                   {"rand100k", 29.5, 9.2}, {"biglittle", 15.2, 10.3}, {"snowsingle", 19.6, 1.3},
                                   {"rand1M", 230, 15.8},   {"micro2M", 441, 8.1}};

bool as_published(const lab::Record& r) {
  const Scene& scene = find_scene(r.input);
  if (r.n != scene.circles) return false;
  return std::all_of(r.params.begin(), r.params.end(), [](const auto& param) {
    const auto& [name, value] = param;
    return (name != "width" && name != "height") || value == "1024";
  });
}

std::string time_of(double ms) { return ms > 0 ? lab::time_text(1000 * ms) : "-"; }

}  // namespace

std::string score_table(const std::vector<lab::Record>& records, const lab::Terminal& terminal) {
  lab::Grid grid({"scene", "reference", "best write-up", "ours", "rung", "reference / ours"});
  for (const auto& [scene, reference_ms, best_ms] : published) {
    const lab::Record* fastest = nullptr;
    bool drawn = false, wrong = false;
    for (const lab::Record& r : records) {
      if (r.input != scene || r.peer || !as_published(r)) continue;
      drawn = true;
      if (!r.timed())
        wrong = true;
      else if (!fastest || *r.median_us < *fastest->median_us)
        fastest = &r;
    }
    if (!drawn) continue;
    std::vector<lab::Cell> cells{std::string(scene), time_of(reference_ms), time_of(best_ms)};
    if (wrong)
      cells.insert(cells.end(), {lab::Cell("(F)", lab::Style::bad), "-", "-"});
    else
      cells.insert(cells.end(), {lab::Cell(lab::time_text(*fastest->median_us), lab::Style::strong), fastest->name(),
                                 fmt::format("{:.1f}x", 1000 * reference_ms / *fastest->median_us)});
    grid.add(cells);
  }
  if (grid.empty()) return {};
  return "reference: the scenes' course, on a T4-class GPU; best write-up: on a T4; both as published\n" +
         grid.text(terminal, 2);
}

}  // namespace upsweep::ladders::render

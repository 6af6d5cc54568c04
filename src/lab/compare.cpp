#include "lab/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "lab/grid.h"
#include "lab/table.h"

namespace upsweep::lab {

namespace {

// The fields in which two runs must agree. They are compared per backend, because each backend of a run has its own
// device.
using Environment = std::array<std::string, 4>;
constexpr std::array environment_fields{"device", "driver", "compiler", "flags"};
using Environments = std::map<std::string, std::set<Environment>>;  // by backend

Environments environments_of(const std::vector<Record>& records) {
  Environments all;
  for (const Record& r : records) all[r.backend].insert({r.device, r.driver, r.compiler, r.flags});
  return all;
}

void require_same_environment(const std::vector<Record>& before, const std::vector<Record>& after) {
  const Environments then = environments_of(before), now = environments_of(after);
  for (const auto& [backend, was] : then) {
    const auto found = now.find(backend);
    if (found == now.end() || found->second == was) continue;
    // Reports the first field in which two environments differ.
    for (const Environment& b : was)
      for (const Environment& a : found->second)
        for (std::size_t k = 0; k < b.size(); ++k)
          if (a[k] != b[k])
            throw Error(Code::invalid_argument,
                        fmt::format("the runs are from different environments: {} '{}' and '{}'", environment_fields[k],
                                    b[k], a[k]),
                        "pass --across to compare them anyway");
  }
}

using Cases = std::map<std::string, std::pair<const Record*, const Record*>>;

// Adds the records of one run to `cases`. Across environments the case name omits the device, so each case of a run
// must come from one device.
void put(const std::vector<Record>& records, bool across, const Record* Cases::mapped_type::*side, Cases& cases) {
  for (const Record& r : records) {
    const std::string what = case_of(r) + (across ? "" : " on " + r.device);
    const Record*& place = cases[what].*side;
    if (across && place && place->device != r.device)
      throw Error(Code::invalid_argument,
                  fmt::format("{} was measured on two devices, '{}' and '{}'", what, place->device, r.device),
                  "compare runs of one device each");
    place = &r;
  }
}

Comparison compare_one(const std::string& what, const Record* before, const Record* after, double threshold) {
  Comparison c{.what = what, .is_ceiling = (before ? before : after)->primitive == "ceiling"};
  if (before && before->timed()) c.before_us = *before->median_us;
  if (after && after->timed()) c.after_us = *after->median_us;
  if (!after)
    c.change = Change::missing;
  else if (!before)
    c.change = Change::added;
  else if (before->timed() && !after->timed())
    c.change = Change::broken;
  else if (!before->timed() && after->timed())
    c.change = Change::repaired;
  else if (before->timed()) {
    c.noise = before->aa_spread.value_or(0) + after->aa_spread.value_or(0);
    const auto beyond = [&](double from_us, double to_us) { return to_us / from_us - 1 >= threshold; };
    if (slower(before->timing(), after->timing()) && beyond(c.before_us, c.after_us))
      c.change = Change::slower;
    else if (slower(after->timing(), before->timing()) && beyond(c.after_us, c.before_us))
      c.change = Change::faster;
  }
  return c;
}

}  // namespace

std::string_view to_string(Change change) {
  constexpr std::string_view names[] = {"same", "faster", "slower", "broken", "repaired", "missing", "added"};
  return names[static_cast<std::size_t>(change)];
}

std::vector<Comparison> compare(const std::vector<Record>& before, const std::vector<Record>& after, bool across,
                                double threshold) {
  if (!across) require_same_environment(before, after);
  Cases cases;
  put(before, across, &Cases::mapped_type::first, cases);
  put(after, across, &Cases::mapped_type::second, cases);
  std::vector<Comparison> all;
  for (const auto& [what, pair] : cases)
    all.push_back(compare_one(case_of(pair.first ? *pair.first : *pair.second), pair.first, pair.second, threshold));
  return all;
}

std::string comparison_table(const std::vector<Comparison>& comparisons, bool all, const Terminal& terminal) {
  std::vector<Comparison> sorted = comparisons;
  const auto badness = [](const Comparison& c) {
    if (c.change == Change::broken) return 1e300;
    return c.before_us > 0 && c.after_us > 0 ? c.after_us / c.before_us : 0;
  };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const Comparison& a, const Comparison& b) { return badness(a) > badness(b); });
  std::map<Change, int> counts;
  Grid grid({"case", "before", "after", "change", "noise", ""});
  for (const Comparison& c : sorted) {
    ++counts[c.change];
    if (c.change == Change::same && !all) continue;
    const bool both = c.before_us > 0 && c.after_us > 0;
    const Style style = c.regression()                                               ? Style::bad
                        : c.change == Change::faster || c.change == Change::repaired ? Style::good
                                                                                     : Style::faint;
    grid.add({{c.what},
              {c.before_us > 0 ? time_text(c.before_us) : "-"},
              {c.after_us > 0 ? time_text(c.after_us) : "-"},
              {both ? fmt::format("{:+.1f} %", 100 * (c.after_us / c.before_us - 1)) : "", style},
              {both ? fmt::format("{:.1f} %", 100 * c.noise) : ""},
              {std::string(to_string(c.change)), style}});
  }
  std::string text = grid.empty() ? "" : grid.text(terminal) + "\n";
  std::string separator;
  for (const auto& [change, count] : counts) {
    text += fmt::format("{}{} {}", separator, count, to_string(change));
    separator = ", ";
  }
  return text + "\n";
}

std::string to_json(const Comparison& c) {
  nlohmann::ordered_json json;
  json["case"] = c.what;
  json["change"] = to_string(c.change);
  json["before_us"] = c.before_us > 0 ? nlohmann::ordered_json(c.before_us) : nullptr;
  json["after_us"] = c.after_us > 0 ? nlohmann::ordered_json(c.after_us) : nullptr;
  json["noise"] = c.noise;
  return json.dump();
}

}  // namespace upsweep::lab

#include "lab/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "lab/grid.h"
#include "lab/table.h"

namespace upsweep::lab {

namespace {

// Backends of one run differ in their devices, so environments are compared backend by backend.
void require_same_environment(const std::vector<Record>& before, const std::vector<Record>& after) {
  for (const Record& b : before)
    for (const Record& a : after) {
      if (a.backend != b.backend) continue;
      const std::tuple<const char*, const std::string&, const std::string&> fields[] = {
          {"device", b.device, a.device},
          {"driver", b.driver, a.driver},
          {"compiler", b.compiler, a.compiler},
          {"flags", b.flags, a.flags}};
      for (const auto& [name, was, is] : fields)
        if (was != is)
          throw Error(Code::invalid_argument,
                      fmt::format("the runs are from different environments: {} '{}' and '{}'", name, was, is),
                      "pass --across to compare them all the same");
    }
}

Comparison compare_one(const std::string& what, const Record* before, const Record* after) {
  Comparison c{.what = what};
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
    if (slower(before->timing(), after->timing()))
      c.change = Change::slower;
    else if (slower(after->timing(), before->timing()))
      c.change = Change::faster;
  }
  return c;
}

}  // namespace

std::string_view to_string(Change change) {
  constexpr std::string_view names[] = {"same", "faster", "slower", "broken", "repaired", "missing", "added"};
  return names[static_cast<std::size_t>(change)];
}

std::vector<Comparison> compare(const std::vector<Record>& before, const std::vector<Record>& after, bool across) {
  if (!across) require_same_environment(before, after);
  std::map<std::string, std::pair<const Record*, const Record*>> pairs;
  for (const Record& r : before) pairs[case_of(r)].first = &r;
  for (const Record& r : after) pairs[case_of(r)].second = &r;
  std::vector<Comparison> all;
  for (const auto& [what, pair] : pairs) all.push_back(compare_one(what, pair.first, pair.second));
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

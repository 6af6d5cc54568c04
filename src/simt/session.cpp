#include "simt/session.h"

#include <algorithm>

#include "simt/symbolize.h"

namespace upsweep::simt {

Session& session() {
  static Session own;
  return own;
}

void Session::add_issue(const char* kind, std::uint64_t key, std::string text) {
  const std::lock_guard lock(mutex_);
  Issue& issue = issues_[{kind, key}];
  if (!issue.count++) {
    issue.kind = kind;
    issue.text = std::move(text);
  }
}

Session::Kernel& Session::kernel(const std::string& name) {
  const auto found = std::find_if(kernels_.begin(), kernels_.end(), [&](auto& k) { return k.report.name == name; });
  if (found != kernels_.end()) return *found;
  kernels_.emplace_back().report.name = name;
  return kernels_.back();
}

void Session::add_launch(const std::string& name, std::uint64_t blocks, std::uint64_t threads,
                         std::uint64_t shared_bytes) {
  const std::lock_guard lock(mutex_);
  KernelReport& report = kernel(name).report;
  ++report.launches;
  report.blocks += blocks;
  report.threads += threads;
  report.shared_bytes = std::max(report.shared_bytes, shared_bytes);
}

void Session::add_counters(const std::string& name, const SiteCounters& sites, std::uint64_t shared_bytes) {
  const std::lock_guard lock(mutex_);
  Kernel& k = kernel(name);
  k.report.shared_bytes = std::max(k.report.shared_bytes, shared_bytes);
  for (const auto& [site, counters] : sites) k.sites[site] += counters;
}

Report Session::take_report() {
  const std::lock_guard lock(mutex_);
  Report report;
  for (auto& [key, issue] : issues_) report.issues.push_back(std::move(issue));
  // Resolves all places of the report in one call, because the symboliser is a separate process.
  std::vector<std::uint32_t> places;
  for (const Issue& issue : report.issues) collect_places(issue.text, places);
  if (options.lines)
    for (const Kernel& k : kernels_)
      for (const auto& [site, counters] : k.sites) places.push_back(site);
  const Lines lines = resolve(places);
  for (Issue& issue : report.issues) issue.text = replace_places(issue.text, lines);

  for (Kernel& k : kernels_) {
    std::map<std::pair<std::string, unsigned>, Counters> by_line;
    for (const auto& [site, counters] : k.sites) {
      k.report.counters += counters;
      if (!options.lines) continue;
      const Line& line = lines.at(site);
      by_line[{line.file, line.line}] += counters;
    }
    for (auto& [place, counters] : by_line) k.report.lines.push_back({place.first, place.second, counters});
    report.kernels.push_back(std::move(k.report));
  }
  kernels_.clear();
  issues_.clear();
  return report;
}

}  // namespace upsweep::simt

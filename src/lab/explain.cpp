#include "lab/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "files/interrupt.h"
#include "lab/check.h"
#include "lab/few_elements.h"
#include "lab/grid.h"
#include "lab/source_text.h"
#include "lab/stage.h"

namespace upsweep::lab {

namespace {

using simt::Counters;
using Json = nlohmann::ordered_json;

struct Count {
  const char* name;
  std::uint64_t Counters::*member;
};
// Every counter by name, for --json.
constexpr Count counts[] = {{"global_load_requests", &Counters::global_load_requests},
                            {"global_load_sectors", &Counters::global_load_sectors},
                            {"global_load_ideal", &Counters::global_load_ideal},
                            {"global_store_requests", &Counters::global_store_requests},
                            {"global_store_sectors", &Counters::global_store_sectors},
                            {"global_store_ideal", &Counters::global_store_ideal},
                            {"shared_load_requests", &Counters::shared_load_requests},
                            {"shared_load_wavefronts", &Counters::shared_load_wavefronts},
                            {"shared_load_ideal", &Counters::shared_load_ideal},
                            {"shared_store_requests", &Counters::shared_store_requests},
                            {"shared_store_wavefronts", &Counters::shared_store_wavefronts},
                            {"shared_store_ideal", &Counters::shared_store_ideal},
                            {"global_atomic_requests", &Counters::global_atomic_requests},
                            {"global_atomic_serial", &Counters::global_atomic_serial},
                            {"global_atomic_worst", &Counters::global_atomic_worst},
                            {"shared_atomic_requests", &Counters::shared_atomic_requests},
                            {"shared_atomic_serial", &Counters::shared_atomic_serial},
                            {"shared_atomic_worst", &Counters::shared_atomic_worst},
                            {"barriers", &Counters::barriers},
                            {"warp_syncs", &Counters::warp_syncs},
                            {"shuffles", &Counters::shuffles},
                            {"branches", &Counters::branches},
                            {"branch_lanes", &Counters::branch_lanes},
                            {"divergent_branches", &Counters::divergent_branches},
                            {"bulk_copies", &Counters::bulk_copies},
                            {"bulk_bytes", &Counters::bulk_bytes}};

std::string count_text(std::uint64_t value) {
  if (value < 100'000) return fmt::format("{}", value);
  return value < 100'000'000 ? fmt::format("{}K", (value + 500) / 1000)
                             : fmt::format("{}M", (value + 500'000) / 1'000'000);
}

std::string ratio_text(std::uint64_t value, std::uint64_t per) {
  return per ? fmt::format("{:.4g}", static_cast<double>(value) / static_cast<double>(per)) : "";
}

std::string lanes_text(const Counters& c) {
  return fmt::format("{:.1f}", static_cast<double>(c.branch_lanes) / static_cast<double>(c.branches));
}

// One row of the table: its name, and a function that formats a rung's cell, "" if the metric does not apply.
struct Metric {
  const char* name;
  std::string (*text)(const Counters&);
};
constexpr Metric metrics[] = {
    {"global loads (warp)",
     [](const Counters& c) { return c.global_load_requests ? count_text(c.global_load_requests) : ""; }},
    {"  sectors a load", [](const Counters& c) { return ratio_text(c.global_load_sectors, c.global_load_requests); }},
    {"  of the ideal",
     [](const Counters& c) {
       return c.global_load_ideal ? ratio_text(c.global_load_sectors, c.global_load_ideal) + "x" : "";
     }},
    {"global stores (warp)",
     [](const Counters& c) { return c.global_store_requests ? count_text(c.global_store_requests) : ""; }},
    {"  sectors a store",
     [](const Counters& c) { return ratio_text(c.global_store_sectors, c.global_store_requests); }},
    {"bulk copies", [](const Counters& c) { return c.bulk_copies ? count_text(c.bulk_copies) : ""; }},
    {"  bytes a copy", [](const Counters& c) { return ratio_text(c.bulk_bytes, c.bulk_copies); }},
    {"shared loads (warp)",
     [](const Counters& c) { return c.shared_load_requests ? count_text(c.shared_load_requests) : ""; }},
    {"  wavefronts a load",
     [](const Counters& c) { return ratio_text(c.shared_load_wavefronts, c.shared_load_requests); }},
    {"shared stores (warp)",
     [](const Counters& c) { return c.shared_store_requests ? count_text(c.shared_store_requests) : ""; }},
    {"  wavefronts a store",
     [](const Counters& c) { return ratio_text(c.shared_store_wavefronts, c.shared_store_requests); }},
    {"bank conflicts",
     [](const Counters& c) {
       const std::uint64_t requests = c.shared_load_requests + c.shared_store_requests;
       return requests ? count_text(c.shared_load_wavefronts + c.shared_store_wavefronts - c.shared_load_ideal -
                                    c.shared_store_ideal)
                       : "";
     }},
    {"global atomics (warp)",
     [](const Counters& c) { return c.global_atomic_requests ? count_text(c.global_atomic_requests) : ""; }},
    {"  lanes on one address",
     [](const Counters& c) { return ratio_text(c.global_atomic_serial, c.global_atomic_requests); }},
    {"  worst", [](const Counters& c) { return c.global_atomic_requests ? count_text(c.global_atomic_worst) : ""; }},
    {"shared atomics (warp)",
     [](const Counters& c) { return c.shared_atomic_requests ? count_text(c.shared_atomic_requests) : ""; }},
    {"  lanes on one address",
     [](const Counters& c) { return ratio_text(c.shared_atomic_serial, c.shared_atomic_requests); }},
    {"  worst", [](const Counters& c) { return c.shared_atomic_requests ? count_text(c.shared_atomic_worst) : ""; }},
    {"barriers (warp)", [](const Counters& c) { return c.barriers ? count_text(c.barriers) : ""; }},
    {"shuffles (warp)", [](const Counters& c) { return c.shuffles ? count_text(c.shuffles) : ""; }},
    {"branches (warp)", [](const Counters& c) { return c.branches ? count_text(c.branches) : ""; }},
    {"  active lanes of 32", [](const Counters& c) { return c.branches ? lanes_text(c) : ""; }},
    {"  divergent", [](const Counters& c) { return c.branches ? count_text(c.divergent_branches) : ""; }},
};

Json counters_json(const Counters& c) {
  Json json;
  for (const Count& count : counts) json[count.name] = c.*count.member;
  return json;
}

// Totals over all kernels of a rung, for the first rows of the table. shared_bytes is the maximum, per block.
struct Launches {
  std::uint64_t launches = 0, blocks = 0, threads = 0, shared_bytes = 0;
};
Launches launches_of(const simt::Report& report) {
  Launches sum;
  for (const simt::KernelReport& kernel : report.kernels) {
    sum.launches += kernel.launches;
    sum.blocks += kernel.blocks;
    sum.threads += kernel.threads;
    sum.shared_bytes = std::max(sum.shared_bytes, kernel.shared_bytes);
  }
  return sum;
}

Grid side_by_side(std::span<const Explanation> explanations) {
  std::vector<std::string> header{"predicted"};
  for (const Explanation& e : explanations) header.emplace_back(e.rung->name);
  Grid grid(header);
  const auto row = [&](const char* name, auto&& text) {
    std::vector<Cell> cells{name};
    bool any = false;
    for (const Explanation& e : explanations) {
      cells.emplace_back(text(e));
      any |= !cells.back().text.empty();
    }
    if (any) grid.add(std::move(cells));
  };
  row("launches", [](const Explanation& e) { return count_text(launches_of(e.report).launches); });
  row("blocks", [](const Explanation& e) { return count_text(launches_of(e.report).blocks); });
  row("threads", [](const Explanation& e) { return count_text(launches_of(e.report).threads); });
  row("shared bytes a block", [](const Explanation& e) { return count_text(launches_of(e.report).shared_bytes); });
  for (const Metric& metric : metrics)
    row(metric.name, [&](const Explanation& e) { return metric.text(e.report.total()); });
  row("issues", [](const Explanation& e) { return count_text(e.report.issues.size() + e.failure.has_value()); });
  return grid;
}

}  // namespace

std::vector<Explanation> explain(simt::Emulator& emulator, const Primitive& primitive,
                                 const std::vector<const Rung*>& rungs, const Case& c, bool lines,
                                 const std::function<void(std::size_t done, const Rung& rung)>& progress) {
  // One OS thread: a block that polls others finds that they are done, so each poll is a single load.
  emulator.configure({.threads = 1, .lines = lines});
  // The traced input is short. Small thresholds split it into several portions, windows and tiles, as the usual ones
  // split a long input.
  const FewElements few(emulator);
  emulator.take_report();
  const auto problem = primitive.make(c, {});
  std::vector<Explanation> explanations;
  Stage stage(emulator);
  for (const Rung* rung : rungs) {
    throw_if_interrupted();
    if (progress) progress(explanations.size(), *rung);
    const RunFn run = rung->find_for(c.type, c.operation, c.n);
    if (!run || rung->gpu_only) continue;
    stage.load(primitive, *problem, c, {.guard_bytes = 0});
    stage.renew_workspace();  // fresh, whatever state the previous rung left
    Explanation e{.rung = rung, .report = {}, .failure = {}, .refused = {}};
    try {
      const Status status = stage.run(run, c.tuning);
      if (status.code == Code::unsupported)
        e.refused = status.message ? status.message : "no message";
      else if (!status)
        e.failure = fmt::format("returned an error: {}", status.message ? status.message : "no message");
      else
        e.failure = stage.verify(*rung);
    } catch (const Error& error) {
      if (error.code() == Code::interrupted) throw;
      e.failure = error.what();
    }
    e.report = emulator.take_report();
    explanations.push_back(std::move(e));
  }
  emulator.configure({});
  return explanations;
}

std::string explanation_table(const std::vector<Explanation>& explanations, const Terminal& terminal) {
  std::string text;
  std::vector<Explanation> all_run;
  std::ranges::copy_if(explanations, std::back_inserter(all_run), [](const Explanation& e) { return !e.refused; });
  const std::span<const Explanation> all(all_run);
  for (std::size_t first = 0; first < all.size();) {
    std::size_t count = 1;
    while (first + count < all.size() && side_by_side(all.subspan(first, count + 1)).width() <= terminal.width) ++count;
    if (first > 0) text += '\n';
    text += side_by_side(all.subspan(first, count)).text(terminal);
    first += count;
  }
  for (const Explanation& e : explanations) {
    const std::string who = styled(terminal, Style::bad, fmt::format("{}/{}", e.rung->primitive, e.rung->name));
    const char* meant = e.rung->expected_wrong ? " (wrong on purpose)" : "";
    for (const simt::Issue& issue : e.report.issues)
      text += fmt::format("\n{}{}: {}: {} ({} times)", who, meant, issue.kind, issue.text, issue.count);
    if (e.failure) text += fmt::format("\n{}{}: {}", who, meant, *e.failure);
    if (e.refused) text += fmt::format("\n{}/{}: not run: {}", e.rung->primitive, e.rung->name, *e.refused);
  }
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text;
}

std::string line_table(const Explanation& explanation, const Terminal& terminal) {
  SourceText source;
  std::string text;
  for (const simt::KernelReport& kernel : explanation.report.kernels) {
    Grid grid({"line", "loads", "sectors", "stores", "sectors", "shared", "wavefronts", "atomics", "worst", "barriers",
               "lanes", "divergent"});
    // The counters take about 90 columns; the source line is truncated to the rest rather than wrapped.
    const auto room = static_cast<std::size_t>(std::clamp(terminal.width - 92, 40, 80));
    std::string file;
    for (const simt::LineCounters& line : kernel.lines) {
      if (line.file != file) grid.add({{file = line.file, Style::faint}});
      const Counters& c = line.counters;
      const auto some = [](std::uint64_t value) { return value ? count_text(value) : std::string(); };
      std::string where = fmt::format("{:>4} {}", line.line, source.line(line.file, line.line));
      if (where.size() > room) where.resize(room);
      grid.add({{where},
                {some(c.global_load_requests)},
                {some(c.global_load_sectors)},
                {some(c.global_store_requests)},
                {some(c.global_store_sectors)},
                {some(c.shared_load_requests + c.shared_store_requests)},
                {some(c.shared_load_wavefronts + c.shared_store_wavefronts)},
                {some(c.global_atomic_requests + c.shared_atomic_requests)},
                {some(std::max(c.global_atomic_worst, c.shared_atomic_worst))},
                {some(c.barriers)},
                {c.branches ? lanes_text(c) : ""},
                {some(c.divergent_branches)}});
    }
    if (!grid.empty())
      text += fmt::format("{}\n{}", styled(terminal, Style::strong, kernel.name), grid.text(terminal, 2));
  }
  return text;
}

std::string to_json(const Explanation& explanation, const Case& c) {
  Json json;
  json["primitive"] = explanation.rung->primitive;
  json["rung"] = explanation.rung->name;
  json["type"] = to_string(c.type);
  json["op"] = c.operation ? Json(c.operation.name()) : Json(nullptr);
  json["n"] = c.n;
  json["input"] = c.input;
  json["predicted"] = counters_json(explanation.report.total());
  json["kernels"] = Json::array();
  for (const simt::KernelReport& kernel : explanation.report.kernels) {
    Json k;
    k["name"] = kernel.name;
    k["launches"] = kernel.launches;
    k["blocks"] = kernel.blocks;
    k["threads"] = kernel.threads;
    k["shared_bytes"] = kernel.shared_bytes;
    k["predicted"] = counters_json(kernel.counters);
    if (!kernel.lines.empty()) {
      k["lines"] = Json::array();
      for (const simt::LineCounters& line : kernel.lines)
        k["lines"].push_back({{"file", line.file}, {"line", line.line}, {"predicted", counters_json(line.counters)}});
    }
    json["kernels"].push_back(std::move(k));
  }
  json["issues"] = Json::array();
  for (const simt::Issue& issue : explanation.report.issues)
    json["issues"].push_back({{"kind", issue.kind}, {"text", issue.text}, {"count", issue.count}});
  json["failure"] = explanation.failure ? Json(*explanation.failure) : Json(nullptr);
  if (explanation.refused) json["refused"] = *explanation.refused;
  return json.dump();
}

}  // namespace upsweep::lab

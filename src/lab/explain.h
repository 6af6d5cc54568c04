// Explains why one rung is faster than another: the traced emulator's counters for each kernel, rung beside rung, on a
// machine without a GPU. Predicted, never measured.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lab/primitive.h"
#include "lab/terminal.h"
#include "simt/report.h"

namespace upsweep::lab {

struct Explanation {
  const Rung* rung = nullptr;
  simt::Report report;
  std::optional<std::string> failure;  // one line: a wrong result or an error
  std::optional<std::string> refused;  // why the rung does not take this case; it was not run
};

// Runs each rung once on the case. Skips rungs that do not take its type and operator. Calls `progress` before each.
std::vector<Explanation> explain(simt::Emulator& emulator, const Primitive& primitive,
                                 const std::vector<const Rung*>& rungs, const Case& c, bool lines,
                                 const std::function<void(std::size_t done, const Rung& rung)>& progress = {});

// Counters, rung beside rung, in as many tables as the width requires, followed by the issues.
std::string explanation_table(const std::vector<Explanation>& explanations, const Terminal& terminal);

// One rung's counters per source line.
std::string line_table(const Explanation& explanation, const Terminal& terminal);

// One JSON line per rung: totals, kernels, lines if present, issues.
std::string to_json(const Explanation& explanation, const Case& c);

}  // namespace upsweep::lab

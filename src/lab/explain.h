// Explains why one rung is faster than another: shows the traced emulator's counters for each kernel, rungs side by
// side, on a machine without a GPU. The counts are predicted, never measured.
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

// Runs each rung once on the case, and calls `progress` before each. Skips rungs that do not take the case's type,
// operation and size, and those that cannot be emulated. `lines` asks for counters per source line.
std::vector<Explanation> explain(simt::Emulator& emulator, const Primitive& primitive,
                                 const std::vector<const Rung*>& rungs, const Case& c, bool lines,
                                 const std::function<void(std::size_t done, const Rung& rung)>& progress = {});

// Formats the counters, rungs side by side, in as many tables as the width requires, followed by the issues.
std::string explanation_table(const std::vector<Explanation>& explanations, const Terminal& terminal);

// Formats one rung's counters per source line.
std::string line_table(const Explanation& explanation, const Terminal& terminal);

// Formats a rung's explanation as one line of JSON: totals, kernels, source lines if present, issues.
std::string to_json(const Explanation& explanation, const Case& c);

}  // namespace upsweep::lab

// Why is one rung faster than another? What the traced emulator predicts of each kernel, rung beside rung, on a machine
// without a GPU. Predicted, never measured.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/primitive.h"
#include "lab/terminal.h"
#include "simt/report.h"

namespace upsweep::lab {

struct Explanation {
  const Rung* rung = nullptr;
  simt::Report report;
  std::optional<std::string> failure;  // a wrong result or an error, one line
};

// Runs each rung once on the case. Rungs that do not take its type and operator are left out.
std::vector<Explanation> explain(simt::Emulator& emulator, const Primitive& primitive,
                                 const std::vector<const Rung*>& rungs, const Case& c, bool lines);

// Counters rung beside rung, as many to a table as the width takes, then what is wrong with them.
std::string explanation_table(const std::vector<Explanation>& explanations, const Terminal& terminal);

// One rung's counters by source line.
std::string line_table(const Explanation& explanation, const Terminal& terminal);

// One JSON line for a rung: totals, kernels, lines where there are any, issues.
std::string to_json(const Explanation& explanation, const Case& c);

}  // namespace upsweep::lab

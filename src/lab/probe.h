// A probe of a threshold that a ladder's choose() reads: a family of calls that differ in one number, and whose rung
// depends on the threshold.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/listed_operation.h"
#include "base/threshold.h"
#include "upsweep/types.h"

namespace upsweep::lab {

struct Probe {
  Threshold& threshold;
  // The number that differs, "n" or a parameter, and the range to search for the crossover. With the threshold at its
  // maximum, every call gets the rung for small numbers; with the threshold at 0, the rung for large numbers.
  std::string_view axis;
  std::uint64_t min, max;
  Type type;
  Operation operation{};
  std::vector<std::pair<std::string_view, std::string>> parameters{};  // besides the axis, as on the command line
  std::size_t n = 0;                                                   // used if the axis is a parameter
  std::string_view input = "uniform";
};

}  // namespace upsweep::lab

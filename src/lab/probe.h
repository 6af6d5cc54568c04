// A probe of a threshold in choose.h: a family of calls that the threshold decides, which differ in one number.
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
  // maximum, every call gets the rung for small numbers; with 0, every call gets the other.
  std::string_view axis;
  std::uint64_t min, max;
  Type type;
  Operation operation{};
  std::vector<std::pair<std::string_view, std::string>> parameters{};  // besides the axis, as on the command line
  std::size_t n = 0;                                                   // used if the axis is a parameter
  std::string_view input = "uniform";
};

}  // namespace upsweep::lab

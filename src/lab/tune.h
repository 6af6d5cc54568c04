// Finds the crossover between two rungs on this machine, for every threshold that has a probe.
//
// Each threshold decides between two rungs. Both are checked and timed, interleaved, at numbers along the probe's axis.
// The crossover is bracketed by powers of two, starting at the measured crossover, and then by quarters of an octave.
// No code here depends on a ladder: choose() says which rungs a threshold separates, and at which value of the
// threshold a call switches rungs.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/platform.h"
#include "lab/primitive.h"

namespace upsweep::lab {

// The times of two rungs on one case; `tied` if they differ by no more than the noise.
struct Race {
  double small_us, large_us;
  bool tied;
};
// Checks both rungs, then times them interleaved. Throws Error(wrong_result) if a result is wrong.
using RunRace = std::function<Race(const Primitive&, const Case&, const Rung& small, const Rung& large)>;
RunRace race_on(Platform& platform);

// A crossover: the rung for small numbers is faster up to `last`, the rung for large numbers from `first` up.
struct Crossing {
  std::uint64_t last, first;
};
// Finds the crossover in [min, max], starting from `known`; returns `known` if the rungs tie there. If one rung is
// faster everywhere, `last` is min - 1 or `first` is max + 1.
enum class Faster { small, large, neither };
Crossing find_crossing(const Crossing& known, std::uint64_t min, std::uint64_t max,
                       const std::function<Faster(std::uint64_t)>& faster);

struct Tuned {
  std::string threshold;  // "sort.most_enumerated"
  std::uint64_t measured, here;
  std::string_view small, large;  // the rungs on either side of the threshold
  std::uint64_t edge;             // on the axis: the number at which the measured value switches rungs
  double gain;                    // at the edge, relative: (slower time) / (faster time) - 1; 0 for a tie
};

// Tunes one threshold and leaves it at the value found, so that later thresholds are tuned with that value in force.
// Returns nullopt if the threshold decides nothing on this platform.
std::optional<Tuned> tune(Platform& platform, const Primitive& primitive, const Probe& probe, const RunRace& race);

}  // namespace upsweep::lab

// The loops that count on one core, for the rungs that build on them.
#pragma once
#include <cstddef>
#include <cstdint>

#include "upsweep/operations.h"
#include "upsweep/types.h"

namespace upsweep::ladders::histogram {

// The counters of `full` that the live loops look at: 1024 bits, which two vectors of 64 bytes hold.
inline constexpr unsigned most_watched = 1024;

// One core's tables. Their counters have 32 bits: at most 2^32 - 1 samples between clearing and adding up.
struct Tables {
  std::uint32_t* counts;  // [copies][slots]
  unsigned slots;
  // Equal neighbours are counted in different copies: an increment that follows another of the same counter waits for
  // its store, 4 to 5 cycles.
  unsigned copies;                                         // 1 or 4
  alignas(64) std::uint32_t full[most_watched / 32] = {};  // bit k: slot k needs no more samples
  bool outside_wanted = true;
};

// Counts n consecutive samples of a row, of which the first belongs to `channel`. `input` is an Input<T, O> of the type
// and operation that the loops are for.
using CountRow = void (*)(const void* input, const void* samples, std::size_t n, unsigned channel, Tables&);

struct RowLoops {
  CountRow all;
  // Leaves out the samples of full slots and, unless wanted, those in no bin; for up to most_watched counters. Null if
  // this processor has no loop for that.
  CountRow live;
  // True if the slots are the 256 values of a byte for each channel, whatever the bins are. Otherwise they are the
  // counters, and one more for the samples in no bin.
  bool by_value;
};

// Returns the loops for this processor, for the types and binnings that histogram takes. Resolve once, call many times.
RowLoops simd_loops(Type type, Binning binning);

}  // namespace upsweep::ladders::histogram

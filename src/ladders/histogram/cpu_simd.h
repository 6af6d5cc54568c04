// The loops that count on one core, shared by the rungs.
#pragma once
#include <cstddef>
#include <cstdint>

#include "ladders/histogram/cpu_guide.h"
#include "upsweep/parameters/histogram.h"
#include "upsweep/types.h"

namespace upsweep::ladders::histogram {

// Maximum number of counters for RowLoops::rare: their bits fill eight registers of 16 bytes.
inline constexpr unsigned most_watched = 1024;

// Prefetch distance. No samples are read while slots are counted, so the hardware prefetcher falls behind: on a Zen 5,
// 8192 uncached samples of 4 bytes took 0.52 ns each, 0.43 ns if prefetched 1 KiB ahead and 0.40 ns if 2 or 4 KiB.
inline constexpr std::size_t fetched_ahead = 2048;  // bytes

// One core's tables. Counters have 32 bits: at most 2^32 - 1 samples between clearing and adding up.
struct Tables {
  std::uint32_t* counts;  // [copies][slots]
  unsigned slots;
  // Adjacent samples are counted in different copies: an increment waits 4 to 5 cycles for the store of a preceding
  // increment of the same counter.
  unsigned copies;     // 1, 2 or 4
  const Guide* guide;  // of the edges, if any

  // For RowLoops::rare and outside, which count only in the first copy.
  std::uint32_t top;      // a counter with this count is full
  unsigned open;          // counters that are not full
  std::uint64_t counted;  // samples that incremented a counter
  // Bit k % 8 of byte k / 8 is set if counter k is open. Initialised only before `rare` is called: clearing or copying
  // the bits would take longer than counting 100 samples.
  alignas(64) std::uint8_t bits[most_watched / 8];

  Tables(std::uint32_t* words, unsigned slots_per_copy, unsigned table_copies, const Guide* guide_of_edges)
      : counts(words), slots(slots_per_copy), copies(table_copies), guide(guide_of_edges) {}
  Tables(const Tables&) = delete;
  Tables& operator=(const Tables&) = delete;

  // Returns the copy that counts sample k.
  std::uint32_t* copy(std::size_t k) const { return counts + (k & (copies - 1)) * slots; }
};

// Counts n consecutive samples of a row, the first of which belongs to `channel`. `input` is an Input<T, O> of the
// loops' type and operation.
using CountRow = void (*)(const void* input, const void* samples, std::size_t n, unsigned channel, Tables&);

struct RowLoops {
  CountRow all;
  // Counts only samples of open counters, and tests four vectors at a time for any. Such a sample takes about 4 times
  // as long as in `all`. For up to most_watched counters. Null for byte samples, and in scalar loops.
  CountRow rare;
  // Counts only the samples in no bin. Null for byte samples.
  CountRow outside;
  // Writes the bins of n byte samples, and `bins.count` for samples in no bin. Null for other samples.
  void (*find)(const void* input, const void* samples, std::size_t n, const Guide*, std::uint32_t* bins);
  // True if there is a slot for each of the 256 values of a byte, per channel, whatever the bins. Otherwise there is a
  // slot per counter, plus one for the samples in no bin.
  bool by_value;
};

// Returns the loops for this processor's instruction set. There are none for edges of 8 bytes. Resolve once, call many
// times.
RowLoops simd_loops(Type type, Binning binning);
// The parts of simd_loops(), one per translation unit: samples of 8 bytes; even bins of narrower samples; their edges
// and direct bins.
RowLoops wide_loops(Type type, Binning binning);
RowLoops even_loops(Type type);
RowLoops other_loops(Type type, Binning binning);

}  // namespace upsweep::ladders::histogram

// The loops that count on one core, shared by the rungs.
#pragma once
#include <cstddef>
#include <cstdint>

#include "ladders/histogram/cpu_guide.h"
#include "upsweep/parameters/histogram.h"
#include "upsweep/types.h"

namespace upsweep::ladders::histogram {

// Maximum number of counters for `rare`: their bits fill eight registers of 16 bytes.
inline constexpr unsigned most_watched = 1024;

// Samples are prefetched this far ahead. While slots are counted nothing is read, and the hardware prefetcher falls
// behind: 8192 uncached samples of 4 bytes took 0.52 ns each, 0.40 if prefetched 2 or 4 KiB ahead, 0.43 at 1 KiB (Zen
// 5).
inline constexpr std::size_t fetched_ahead = 2048;  // bytes

// One core's tables. Counters have 32 bits: at most 2^32 - 1 samples between clearing and adding up.
struct Tables {
  std::uint32_t* counts;  // [copies][slots]
  unsigned slots;
  // Equal neighbours are counted in different copies: an increment that follows one of the same counter waits for its
  // store, 4 to 5 cycles.
  unsigned copies;     // 1, 2 or 4
  const Guide* guide;  // of the edges, if any

  // For `rare` and `outside`, which count only in the first copy.
  std::uint32_t top;      // a counter with this count is full
  unsigned open;          // counters that are not full
  std::uint64_t counted;  // samples that incremented a counter
  // Bit k % 8 of byte k / 8: counter k is open. Set before `rare` is called; clearing or copying the bits would take
  // longer than 100 samples.
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
  // Skips samples of full counters, four vectors per test. A sample of an open counter takes about 4 times as long as
  // in `all`. For up to most_watched counters. Null for byte samples.
  CountRow rare;
  // Counts only the samples in no bin. Null for byte samples.
  CountRow outside;
  // Writes the bins of n byte samples, and `bins.count` for samples in no bin. Null for others.
  void (*find)(const void* input, const void* samples, std::size_t n, const Guide*, std::uint32_t* bins);
  // True if slots are the 256 values of a byte per channel, whatever the bins are. Otherwise slots are the counters,
  // plus one for the samples in no bin.
  bool by_value;
};

// Returns the loops for this processor, for the types and binnings that histogram takes except edges of 8 bytes.
// Resolve once, call many times.
RowLoops simd_loops(Type type, Binning binning);
// The same, for samples of 8 bytes; for even bins of all others; for their other bins.
RowLoops wide_loops(Type type, Binning binning);
RowLoops even_loops(Type type);
RowLoops other_loops(Type type, Binning binning);

}  // namespace upsweep::ladders::histogram

// The loops that count on one core, for the rungs that build on them.
#pragma once
#include <cstddef>
#include <cstdint>

#include "ladders/histogram/cpu_guide.h"
#include "upsweep/parameters/histogram.h"
#include "upsweep/types.h"

namespace upsweep::ladders::histogram {

// The most counters that the loops for rare samples take: their bits fill eight registers of 16 bytes.
inline constexpr unsigned most_watched = 1024;

// Samples are fetched this far ahead. While slots are counted nothing is read, and the hardware's prefetcher falls
// back: 8192 samples of 4 bytes that were in no cache took 0.52 ns each, fetched 2 or 4 KiB ahead 0.40, 1 KiB 0.43 (Zen
// 5).
inline constexpr std::size_t fetched_ahead = 2048;  // bytes

// One core's tables. Their counters have 32 bits: at most 2^32 - 1 samples between clearing and adding up.
struct Tables {
  std::uint32_t* counts;  // [copies][slots]
  unsigned slots;
  // Equal neighbours are counted in different copies: an increment that follows another of the same counter waits for
  // its store, 4 to 5 cycles.
  unsigned copies;     // 1 or 4
  const Guide* guide;  // of the edges, if there are any

  // For `rare` and `outside`, which count in the first copy alone.
  std::uint32_t top;      // a counter with this count is full
  unsigned open;          // counters that are not
  std::uint64_t counted;  // samples that incremented a counter
  // Bit k % 8 of byte k / 8: counter k is open. Set before `rare` is used; to clear them, or to copy them, would take
  // longer than 100 samples do.
  alignas(64) std::uint8_t bits[most_watched / 8];

  Tables(std::uint32_t* words, unsigned slots_per_copy, unsigned table_copies, const Guide* guide_of_edges)
      : counts(words), slots(slots_per_copy), copies(table_copies), guide(guide_of_edges) {}
  Tables(const Tables&) = delete;
  Tables& operator=(const Tables&) = delete;
};

// Counts n consecutive samples of a row, of which the first belongs to `channel`. `input` is an Input<T, O> of the type
// and operation that the loops are for.
using CountRow = void (*)(const void* input, const void* samples, std::size_t n, unsigned channel, Tables&);

struct RowLoops {
  CountRow all;
  // Skips samples of full counters, 4 vectors at a time; one of an open counter takes about 4 times as long as in
  // `all`. For up to most_watched counters. Null for samples of a byte.
  CountRow rare;
  // Counts the samples in no bin alone. Null for samples of a byte.
  CountRow outside;
  // Writes the bins of n samples; the number of bins for those in none.
  void (*find)(const void* input, const void* samples, std::size_t n, const Guide*, std::uint32_t* bins);
  // True if the slots are the 256 values of a byte for each channel, whatever the bins are. Otherwise they are the
  // counters, and one more for the samples in no bin.
  bool by_value;
};

// Returns the loops for this processor, for the types and binnings that histogram takes. Resolve once, call many times.
RowLoops simd_loops(Type type, Binning binning);

}  // namespace upsweep::ladders::histogram

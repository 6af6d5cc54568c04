// The limits of the rungs, shared with choose.h, which includes no kernels.
#pragma once
#include "base/machine.h"
#include "ladders/histogram/contract.h"

namespace upsweep::ladders::histogram {

// Maximum samples per call of a rung, whose counters in shared memory and step numbers have 32 bits. A multiple of the
// samples in a pack and of 3 and 4 channels. Larger inputs are counted part by part (binding.h).
inline constexpr std::size_t most_at_once = 3u << 30;

// Returns the number of slices into which the counters, and one for samples in no bin, are divided, so that each slice
// fits in the shared memory of a block.
constexpr std::size_t slices_of(std::size_t counters, const Machine& machine) {
  const std::size_t slots = counters + 1, each = machine.shared_per_block / sizeof(unsigned);
  return slots / each + (slots % each != 0);
}

// True if a call can end once all counters are full: they saturate, and samples in no bin need not be counted.
template <class T, class O>
bool may_end_early(const Args<T, O>& a) {
  return a.out.saturates() && !(a.out.outside && !a.in.bins.covers_every_value());
}

// ---- partitioned ----------------------------------------------------------------------------------------------------

// A bucket has 2^15 counters, 128 KiB; the last bucket has one more.
inline constexpr unsigned log_bucket = 15, most_buckets = 32;
inline constexpr std::size_t most_partitioned = std::size_t(most_buckets) << log_bucket;  // counters
inline constexpr Needs partitioned_needs{{}, 131'080};

// ---- guided ---------------------------------------------------------------------------------------------------------

// Maximum bins and cells: edges and cells then take at most half of a block's shared memory, if that is 163 KiB or
// more.
inline constexpr unsigned most_guided = 4096, most_cells = 16384;

struct GuideShape {
  unsigned count;  // bins
  unsigned cells;  // a power of two

  // A shape with the minimum number of cells: four per bin or more, at least 32.
  constexpr explicit GuideShape(unsigned bins) : count(bins), cells(32) {
    while (cells < 4 * bins) cells *= 2;
  }
  // A shape with as many cells as pay and fit. With more cells, fewer contain edges, but the table takes longer to
  // fill; measured up to 16384 cells.
  constexpr GuideShape(unsigned bins, unsigned channels, std::size_t samples_per_block, const Machine& machine)
      : GuideShape(bins) {
    while (cells < most_cells && cells < samples_per_block / 16 && with(2 * cells).fits(channels, machine)) cells *= 2;
  }
  // Returns the bytes of the table and the edges in shared memory. The table has one cell more than `cells`, for
  // samples just below the last edge whose cell number is rounded up.
  constexpr std::size_t bytes() const { return (cells + 1 + count + 1) * sizeof(unsigned); }
  // Returns the counters per channel: one below all bins, one per bin, one above all bins.
  UPSWEEP_HD constexpr unsigned slots() const { return count + 2; }
  // True if there are at most most_guided bins, and the table, the edges and a column of counters fit in shared memory.
  constexpr bool fits(unsigned channels, const Machine& machine) const {
    const std::size_t all = bytes() + std::size_t(channels) * slots() * sizeof(unsigned);
    return count <= most_guided && all <= machine.shared_per_block;
  }

 private:
  constexpr GuideShape with(unsigned other_cells) const {
    GuideShape other = *this;
    other.cells = other_cells;
    return other;
  }
};

}  // namespace upsweep::ladders::histogram

// A block's counters in shared memory: `columns` words per counter, of which lane l adds to word l % columns.
#pragma once
#include "ladders/histogram/steps.cuh"

namespace upsweep::ladders::histogram {

// The shape of the counters. With several columns, lanes whose counters would share a bank add to different banks.
// Clearing and merging a word takes about as long as counting a sample, so a block has at most one word per 32 samples,
// and no more than fit in shared memory together with the `beside` bytes that the rung needs. There is at least one
// column, even if that does not fit.
struct WordColumns {
  unsigned slots, columns;  // columns: a power of two up to 32

  WordColumns(unsigned all, std::size_t samples_per_block, std::size_t beside = 0) : slots(all), columns(warp_size) {
    while (columns > 1 && (bytes() + beside > most_shared() || std::size_t(slots) * columns > samples_per_block / 32))
      columns /= 2;
  }
  std::size_t bytes() const { return std::size_t(slots) * columns * sizeof(unsigned); }
  bool fit() const { return bytes() <= most_shared(); }

  // Block-wide: zeroes the words, without a barrier.
  __device__ __forceinline__ void clear(unsigned* words) const {
    for (unsigned w = threadIdx.x; w < slots * columns; w += blockDim.x) words[w] = 0;
  }
  // Increments a slot in this lane's column. The constant addend of 1 lets the hardware merge the additions of lanes
  // that hit the same word.
  __device__ __forceinline__ void count(unsigned* words, unsigned slot) const {
    atomicAdd(&words[slot * columns + (threadIdx.x & (columns - 1))], 1u);
  }
  // Returns a slot's count, the sum of its columns. Threads whose slots start in the same bank start in different
  // columns, so that a warp reads 32 different banks per iteration.
  __device__ __forceinline__ unsigned sum(const unsigned* words, unsigned slot) const {
    const unsigned first = threadIdx.x * columns / warp_size;
    unsigned all = 0;
    for (unsigned j = 0; j < columns; ++j) all += words[slot * columns + ((first + j) & (columns - 1))];
    return all;
  }
  // Block-wide: adds the count of every slot k to totals[total_of(k)].
  template <class F>
  __device__ void merge(const unsigned* words, unsigned* totals, F&& total_of) const {
    for (unsigned k = threadIdx.x; k < slots; k += blockDim.x)
      if (const unsigned all = sum(words, k)) atomicAdd(&totals[total_of(k)], all);
  }
  __device__ void merge(const unsigned* words, unsigned* totals) const {
    merge(words, totals, [](unsigned k) { return k; });
  }
};

}  // namespace upsweep::ladders::histogram

// A block's counters in shared memory: a row of `columns` words per counter, one of which a lane uses.
#pragma once
#include "ladders/histogram/steps.cuh"

namespace upsweep::ladders::histogram {

// Columns separate lanes whose counters are in one bank. Clearing and merging a word takes about as long as counting a
// sample, so there is at most one word per 32 samples of a block, if they fit beside the `beside` bytes that the rung
// needs. At least one column.
struct WordColumns {
  unsigned slots, columns;  // columns: a power of two up to 32

  WordColumns(unsigned all, std::size_t samples_per_block, std::size_t beside = 0) : slots(all), columns(warp_size) {
    while (columns > 1 && (bytes() + beside > most_shared() || std::size_t(slots) * columns > samples_per_block / 32))
      columns /= 2;
  }
  std::size_t bytes() const { return std::size_t(slots) * columns * sizeof(unsigned); }
  bool fit() const { return bytes() <= most_shared(); }

  // Block-wide, without a barrier.
  __device__ __forceinline__ void clear(unsigned* words) const {
    for (unsigned w = threadIdx.x; w < slots * columns; w += blockDim.x) words[w] = 0;
  }
  // A constant addend of 1 lets the hardware merge lanes that add to one word.
  __device__ __forceinline__ void count(unsigned* words, unsigned slot) const {
    atomicAdd(&words[slot * columns + (threadIdx.x & (columns - 1))], 1u);
  }
  // Threads whose rows start in one bank start in different columns: in each step, a warp reads 32 banks.
  __device__ __forceinline__ unsigned sum(const unsigned* words, unsigned slot) const {
    const unsigned first = threadIdx.x * columns / warp_size;
    unsigned all = 0;
    for (unsigned j = 0; j < columns; ++j) all += words[slot * columns + ((first + j) & (columns - 1))];
    return all;
  }
  // Block-wide: calls f(k, its count) for every slot k.
  template <class F>
  __device__ void for_each_count(const unsigned* words, F&& f) const {
    for (unsigned k = threadIdx.x; k < slots; k += blockDim.x) f(k, sum(words, k));
  }
  // Block-wide: adds slot k to totals[total_of(k)].
  template <class F>
  __device__ void merge(const unsigned* words, unsigned* totals, F&& total_of) const {
    for_each_count(words, [&](unsigned k, unsigned count) {
      if (count) atomicAdd(&totals[total_of(k)], count);
    });
  }
  __device__ void merge(const unsigned* words, unsigned* totals) const {
    merge(words, totals, [](unsigned k) { return k; });
  }
};

}  // namespace upsweep::ladders::histogram

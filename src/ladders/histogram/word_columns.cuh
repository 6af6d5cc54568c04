// A block's counters in shared memory: a row of `columns` words for each counter, of which a lane uses one.
#pragma once
#include "ladders/histogram/tiles.cuh"

namespace upsweep::ladders::histogram {

// Threads. Two blocks per multiprocessor leave a thread 40 registers; two of 1024 threads 32, which spill.
inline constexpr unsigned columns_block = 768;
inline Status fits_columns(unsigned block) {
  if (!whole_warps(block)) return not_whole_warps;
  if (block > columns_block) return {Code::unsupported, 0, "this rung takes blocks of up to 768 threads"};
  return {};
}

// As many columns, a power of two up to 32, as fit beside a second block and `beside` bytes of the rung's own; one
// column may take all the memory.
struct WordColumns {
  unsigned slots, columns;

  explicit WordColumns(unsigned counters, std::size_t beside = 0) : slots(counters + 1), columns(warp_size) {
    while (columns > 1 && bytes() + beside > most_shared / 2 - 1024) columns /= 2;
  }
  std::size_t bytes() const { return std::size_t(slots) * columns * sizeof(unsigned); }
  bool fit() const { return bytes() <= most_shared; }

  // Block-wide, without a barrier.
  __device__ __forceinline__ void clear(unsigned* words) const {
    for (unsigned w = threadIdx.x; w < slots * columns; w += blockDim.x) words[w] = 0;
  }
  // Adding 1, and not a variable, lets the hardware merge the lanes that add to one word.
  __device__ __forceinline__ void count(unsigned* words, unsigned slot) const {
    atomicAdd(&words[slot * columns + threadIdx.x % columns], 1u);
  }
  // Neighbouring threads begin in neighbouring columns: in each step a warp reads 32 banks.
  __device__ __forceinline__ unsigned sum(const unsigned* words, unsigned slot) const {
    unsigned all = 0;
    for (unsigned j = 0; j < columns; ++j) all += words[slot * columns + (threadIdx.x + j) % columns];
    return all;
  }
  // Block-wide: adds the table to the totals.
  __device__ void merge(const unsigned* words, unsigned* totals) const {
    for (unsigned k = threadIdx.x; k < slots; k += blockDim.x)
      if (const unsigned all = sum(words, k)) atomicAdd(&totals[k], all);
  }
};

}  // namespace upsweep::ladders::histogram

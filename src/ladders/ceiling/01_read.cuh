// ceiling/read: reads at full memory bandwidth, with one xor per word.
//
// Four 16-byte loads in flight per thread, and two resident blocks of 1024 threads per multiprocessor: the fastest of
// the launch shapes tried for sums (docs/notebook/reduce.md). Inputs below 512 MiB are read in a grid-stride loop. For
// larger inputs, each block reads a contiguous share and the grid has 16 times as many blocks as can be resident, so
// that a multiprocessor that finishes early gets another block.
#pragma once
#include "base/threshold.h"
#include "kernel/block.h"
#include "kernel/mailbox.h"
#include "kernel/vector.h"
#include "ladders/ceiling/contract.h"

namespace upsweep::ladders::ceiling {

// Minimum size of the input for contiguous shares; with less, a grid-stride loop is faster on an H200.
inline constinit Threshold read_shares_from{"read_shares_from", 512 << 20, 16 << 10};  // bytes
inline constexpr unsigned read_block = 1024, read_blocks_per_sm = 2, read_waves = 16, read_in_flight = 4;

struct Xor {
  template <class T>
  UPSWEEP_HD static constexpr T neutral() {
    return T(0);
  }
  UPSWEEP_HD constexpr unsigned operator()(unsigned a, unsigned b) const { return a ^ b; }
};

// Returns the xor of packs first, first + step, ... below end. Each round issues all its loads before it uses the
// first. Two independent xor chains keep up with the loads.
__device__ __forceinline__ unsigned fold_packs(const unsigned* packs,  // 16-byte aligned
                                               std::size_t first, std::size_t end, std::size_t step) {
  constexpr unsigned in_flight = read_in_flight;
  unsigned folded[2] = {0, 0};
  Pack<unsigned> pack[in_flight];
  std::size_t i = first;
  for (; i + (in_flight - 1) * step < end; i += in_flight * step) {
#pragma unroll
    for (unsigned k = 0; k < in_flight; ++k) pack[k] = load_pack(packs + (i + k * step) * Pack<unsigned>::size);
#pragma unroll
    for (unsigned k = 0; k < in_flight; ++k) folded[k % 2] ^= fold(pack[k], Xor{});
  }
  // The last, partial round.
#pragma unroll
  for (unsigned k = 0; k < in_flight - 1; ++k)
    if (i + k * step < end) pack[k] = load_pack(packs + (i + k * step) * Pack<unsigned>::size);
#pragma unroll
  for (unsigned k = 0; k < in_flight - 1; ++k)
    if (i + k * step < end) folded[k % 2] ^= fold(pack[k], Xor{});
  return folded[0] ^ folded[1];
}

template <bool shares>
__global__ void __launch_bounds__(read_block, min_blocks(read_block, read_blocks_per_sm))
    read_kernel(const unsigned* in,          // [n]
                unsigned* out,               // [1]
                unsigned long long* totals,  // [gridDim.x], zero; left zero
                std::size_t n) {
  __shared__ unsigned warp_totals[warp_size];
  const PackSplit<unsigned> split(in, n);
  const std::size_t thread = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;

  // 1. Fold this thread's packs, and its words of the unaligned head and tail.
  unsigned word = 0;
  if (thread < split.head) word ^= in[thread];
  if (thread < split.tail) word ^= split.aligned[split.packs * Pack<unsigned>::size + thread];
  if constexpr (shares) {
    const std::size_t share = ceil_div(ceil_div(split.packs, gridDim.x), blockDim.x) * blockDim.x;
    const std::size_t begin = blockIdx.x * share, end = begin + share < split.packs ? begin + share : split.packs;
    word ^= fold_packs(split.aligned, begin + threadIdx.x, end, blockDim.x);
  } else {
    word ^= fold_packs(split.aligned, thread, split.packs, std::size_t(gridDim.x) * blockDim.x);
  }

  // 2. Send the block's xor to the last block, which folds the xors of all blocks.
  word = block_reduce(word, Xor{}, warp_totals);
  const unsigned last = gridDim.x - 1;
  if (blockIdx.x != last) {
    if (threadIdx.x == 0) put(totals + blockIdx.x, word);
    return;
  }
  if (threadIdx.x != 0) word = 0;
  for (unsigned b = threadIdx.x; b < last; b += blockDim.x) word ^= take<unsigned>(totals + b);
  __syncthreads();  // warp_totals has been read
  word = block_reduce(word, Xor{}, warp_totals);
  if (threadIdx.x == 0) out[0] = word;
}

struct read {
  static constexpr Story story{.idea = "four 16-byte loads in flight in every thread, folded by xor",
                               .limits = "any n"};
  static constexpr bool blocks_in_order = true;
  static constexpr Threshold* thresholds[] = {&read_shares_from};
  static Status run(const Call& c) {
    const bool shares = c.n() * sizeof(unsigned) >= read_shares_from;
    const unsigned grid = blocks_for<unsigned>(c.n(), read_block, 1, read_blocks_per_sm * (shares ? read_waves : 1));
    // Two 32-bit counters per block hold one tagged word: the block's total and its flag.
    auto* const totals = reinterpret_cast<unsigned long long*>(c.workspace->counters(2 * std::size_t(grid)));
    if (!totals) return {Code::out_of_memory, 0, "no memory for the block totals"};
    return launch(shares ? read_kernel<true> : read_kernel<false>,
                  {.grid = grid, .block = read_block, .stream = c.stream}, c.in[0].as<const unsigned>(),
                  c.out[0].as<unsigned>(), totals, c.n());
  }
};

}  // namespace upsweep::ladders::ceiling

// The complete lists of not too many circles, in two launches: a bit for each circle and bin says what a count and a
// circle's key would, so that the kernel that sums up over blocks writes the lists as well.
//
// Traffic   per bin and 32 circles four bytes, written once and read twice, beside the circles and the lists
#pragma once
#include "ladders/render/bin_lists.cuh"

namespace upsweep::ladders::render {

// 16 MiB of bits at most, which stay in L2: 131,072 circles of 1024 bins. Instead of count, scan, scatter and the two
// launches for unfinished bins: rand10k 68.6 to 57.0 us, rand100k 93.8 to 77.3, biglittle 81.6 to 64.8. On the
// emulator, checks come to both ways.
inline constexpr std::size_t most_bit_words = emulated ? 100 : std::size_t{1} << 22;

// 1. Which of the block's circles reach a bin: whole words of bits.
static __global__ void __launch_bounds__(bin_threads) bin_bits_kernel(const float* circles,  // [n][8]
                                                                      std::size_t n, Frame f, BinnedCircles bins) {
  unsigned* const bitmap = dynamic_shared<unsigned>();  // [words][bins]
  const unsigned count = bins.grid.count(), words = bins.shares.words() * count;
  for (unsigned w = threadIdx.x; w < words; w += bin_threads) bitmap[w] = 0;
  __syncthreads();
  if (blockIdx.x == 0 && threadIdx.x == 0) *bins.cursor = 0;
  const unsigned first = threadIdx.x / warp_size * bins.shares.lanes;
  bins.each_bin(circles, n, f, [&](unsigned bin, unsigned lane) {
    const unsigned bit = first + lane;
    atomicOr(&bitmap[bit / warp_size * count + bin], 1u << bit % warp_size);
  });
  __syncthreads();
  for (unsigned w = threadIdx.x; w < words; w += bin_threads)
    bins.bits[std::size_t(blockIdx.x) * words + w] = bitmap[w];
}

// 2. Sums up how many circles each bin has before a row of bits, and writes the lists. Those of a block's bins follow
// one another, and are put together in shared memory, so that writes are whole lines.
inline constexpr unsigned staged_entries = emulated ? 64 : 16384;
static __global__ void __launch_bounds__(scan_threads) bin_list_kernel(BinnedCircles bins) {
  __shared__ unsigned begin;
  unsigned* const staged = dynamic_shared<unsigned>();  // [staged_entries]
  const unsigned own = threadIdx.x % scan_bins, bin = blockIdx.x * scan_bins + own, count = bins.grid.count();
  const unsigned rows = bins.shares.blocks * bins.shares.words(), of_group = (rows + scan_groups - 1) / scan_groups;
  const unsigned first = min(threadIdx.x / scan_bins * of_group, rows), end = min(first + of_group, rows);
  const auto each_word = [&](auto&& use) {
    constexpr unsigned ahead = 8;  // words that are loaded at once
    for (unsigned row = first; row < end; row += ahead) {
      unsigned words[ahead];
#pragma unroll
      for (unsigned k = 0; k < ahead; ++k)
        words[k] = row + k < end && bin < count ? bins.bits[std::size_t(row + k) * count + bin] : 0;
#pragma unroll
      for (unsigned k = 0; k < ahead; ++k) use(row + k, words[k]);
    }
  };
  unsigned sum = 0;
  each_word([&](unsigned, unsigned word) { sum += unsigned(__popc(word)); });
  bins.summarize();
  const BinSums sums = sum_groups(sum);
  unsigned upto = sums.all;  // of the block's bins
  for (unsigned distance = 1; distance < scan_bins; distance *= 2) {
    const unsigned left = shuffle_up(upto, distance);
    if (own >= distance) upto += left;
  }
  const unsigned total = shuffle(upto, scan_bins - 1);
  if (threadIdx.x == 0) begin = atomicAdd(bins.cursor, total);
  __syncthreads();
  const bool fits = bins.fits(begin, total);
  if (threadIdx.x < scan_bins && bin < count)
    bins.lists[bin] = {fits ? begin + upto - sums.all : BinList::none, sums.all, 0, 0};
  if (!fits) return;
  for (unsigned chunk = 0; chunk < total; chunk += staged_entries) {
    unsigned at = upto - sums.all + sums.before - chunk;  // wraps where the chunk is past it
    each_word([&](unsigned row, unsigned left) {
      for (; left; left &= left - 1, ++at)
        if (at < staged_entries) staged[at] = row * warp_size + unsigned(__ffs(int(left))) - 1;
    });
    __syncthreads();
    for (unsigned k = threadIdx.x; k < min(staged_entries, total - chunk); k += scan_threads)
      bins.indices[begin + chunk + k] = staged[k];
    __syncthreads();
  }
}

inline Status BinnedCircles::fill_by_bits(const Args& a) const {
  if (auto s = launch(bin_bits_kernel,
                      {.grid = shares.blocks,
                       .block = bin_threads,
                       .shared_bytes = shares.words() * grid.count() * sizeof(unsigned),
                       .stream = a.stream},
                      a.circles, a.n, a.frame, *this);
      !s)
    return s;
  return launch(bin_list_kernel,
                {.grid = unsigned(ceil_div(grid.count(), scan_bins)),
                 .block = scan_threads,
                 .shared_bytes = staged_entries * sizeof(unsigned),
                 .stream = a.stream},
                *this);
}

}  // namespace upsweep::ladders::render

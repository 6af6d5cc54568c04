// Fills the bins' lists, in order: count, scan, ordered scatter.
#pragma once
#include "ladders/render/bin_scatter.cuh"

namespace upsweep::ladders::render {

// 1. Counts each block's circles per bin, stores the circles' keys and summarises the circles.
static __global__ void __launch_bounds__(bin_threads) bin_count_kernel(const float* circles,  // [n][8]
                                                                       std::size_t n, Frame f, BinLists bins) {
  unsigned* const counted = dynamic_shared<unsigned>();  // [bins]
  const unsigned count = bins.grid.count();
  for (unsigned bin = threadIdx.x; bin < count; bin += bin_threads) counted[bin] = 0;
  __syncthreads();
  if (blockIdx.x == 0 && threadIdx.x == 0) *bins.cursor = 0, bins.deferred->count = 0;
  bins.each_bin(
      circles, n, f, [&](std::size_t circle, BinKey key) { bins.keys[circle] = key; },
      [&](unsigned bin, unsigned) { atomicAdd(&counted[bin], 1u); });
  for (unsigned bin = threadIdx.x; bin < count; bin += bin_threads)
    bins.counts[std::size_t(blockIdx.x) * count + bin] = counted[bin];
}

// The scan over the rows of counts, one row per counting block. A scan block takes 8 bins, one sector of each row. Each
// of its 128 groups of threads takes consecutive rows.
inline constexpr unsigned scan_threads = 1024, scan_bins = 8;
inline constexpr unsigned scan_groups = scan_threads / scan_bins;

// Sums for a thread's bin, over the preceding groups of threads and over all groups.
struct BinSums {
  unsigned before, total;
};
__device__ inline BinSums sum_groups(unsigned of_group) {
  constexpr unsigned warps = scan_threads / warp_size;
  __shared__ unsigned totals[warps][scan_bins];
  const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size, bin = threadIdx.x % scan_bins;
  unsigned upto = of_group;
  for (unsigned distance = scan_bins; distance < warp_size; distance *= 2) {
    const unsigned left = shuffle_up(upto, distance);
    if (lane >= distance) upto += left;
  }
  if (lane >= warp_size - scan_bins) totals[warp][bin] = upto;
  __syncthreads();
  BinSums sums{upto - of_group, 0};
  for (unsigned w = 0; w < warps; ++w) {
    sums.before += w < warp ? totals[w][bin] : 0;
    sums.total += totals[w][bin];
  }
  return sums;
}

// 2. Turns counts into offsets by an exclusive scan per bin over the blocks, and reserves entries for each list. A
// group of threads takes up to four consecutive blocks.
inline constexpr unsigned scan_rows = (max_bin_blocks + scan_groups - 1) / scan_groups;
static __global__ void __launch_bounds__(scan_threads) bin_scan_kernel(BinLists bins) {
  __shared__ unsigned from[scan_bins];
  const unsigned blocks = bins.partition.blocks, count = bins.grid.count();
  const unsigned column = threadIdx.x % scan_bins, bin = blockIdx.x * scan_bins + column;
  const unsigned first = threadIdx.x / scan_bins * scan_rows;
  unsigned counted[scan_rows], sum = 0;
#pragma unroll
  for (unsigned r = 0; r < scan_rows; ++r)
    counted[r] = first + r < blocks && bin < count ? bins.counts[std::size_t(first + r) * count + bin] : 0;
  if (threadIdx.x < scan_bins) from[threadIdx.x] = 0;
  const Summary summary = bins.summarize();
  if (blockIdx.x == 0 && threadIdx.x == 0) *bins.summary = summary;
  for (const unsigned c : counted) sum += c;
  const BinSums sums = sum_groups(sum);
  unsigned before = sums.before;
  const unsigned target = bins.entries_to_write(sums.total, summary.optical_depth());
  unsigned last = 0;  // last block from which enough entries follow
#pragma unroll
  for (unsigned r = 0; r < scan_rows; ++r) {
    if (first + r < blocks && bin < count) {
      bins.counts[std::size_t(first + r) * count + bin] = before;
      if (sums.total - before >= target) last = first + r;
    }
    before += counted[r];
  }
  if (last > 0) atomicMax(&from[column], last);
  __syncthreads();
  if (threadIdx.x >= scan_bins || bin >= count) return;
  const unsigned skipped = bins.counts[std::size_t(from[column]) * count + bin];
  bins.lists[bin] = bins.add_list(sums.total, skipped ? from[column] : 0, skipped);
}

// 3. Writes each circle's index to the lists of its bins; blocks before a list's `from` do not write to that list. If
// `later`, only the lists of deferred bins are written.
static __global__ void __launch_bounds__(bin_threads)
    bin_scatter_kernel(const float* circles,  // [n][8]
                       std::size_t n, Frame f, BinLists bins, bool later) {
  BinScatter block(circles, n, f, bins);
  if (block.begin(later)) block.write();
}

inline Status scatter(const BinLists& lists, const Args& a, bool later) {
  return launch(bin_scatter_kernel,
                {.grid = lists.partition.blocks,
                 .block = bin_threads,
                 .shared_bytes = shared_bytes_to_scatter(lists.grid.count(), lists.sorted),
                 .stream = a.stream},
                a.circles, a.n, a.frame, lists, later);
}

inline Status fill(const BinLists& lists, const Args& a) {
  const std::size_t bins = lists.grid.count();
  if (auto s = launch(bin_count_kernel,
                      {.grid = lists.partition.blocks,
                       .block = bin_threads,
                       .shared_bytes = bins * sizeof(unsigned),
                       .stream = a.stream},
                      a.circles, a.n, a.frame, lists);
      !s)
    return s;
  if (auto s = launch(bin_scan_kernel,
                      {.grid = unsigned(ceil_div(bins, scan_bins)), .block = scan_threads, .stream = a.stream}, lists);
      !s)
    return s;
  return scatter(lists, a, false);
}

// Completes the lists of deferred bins.
inline Status complete_deferred(const BinLists& lists, const Args& a) { return scatter(lists, a, true); }

}  // namespace upsweep::ladders::render

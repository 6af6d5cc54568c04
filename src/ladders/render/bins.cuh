// Circles by bin, in order: count, scan, ordered scatter; or a bit for each circle and bin (bin_bits.cuh).
#pragma once
#include "ladders/render/bin_bits.cuh"
#include "ladders/render/bin_scatter.cuh"

namespace upsweep::ladders::render {

// 1. How many of its circles a block has for each bin; and a summary of them.
static __global__ void __launch_bounds__(bin_threads) bin_count_kernel(const float* circles,  // [n][8]
                                                                       std::size_t n, Frame f, BinnedCircles bins) {
  unsigned* const counted = dynamic_shared<unsigned>();  // [bins]
  const unsigned count = bins.grid.count();
  for (unsigned bin = threadIdx.x; bin < count; bin += bin_threads) counted[bin] = 0;
  __syncthreads();
  if (blockIdx.x == 0 && threadIdx.x == 0) *bins.cursor = 0, bins.unfinished->count = 0;
  bins.each_bin(circles, n, f, [&](unsigned bin, unsigned) { atomicAdd(&counted[bin], 1u); });
  for (unsigned bin = threadIdx.x; bin < count; bin += bin_threads)
    bins.counts[std::size_t(blockIdx.x) * count + bin] = counted[bin];
}

// The kernels that sum up over blocks: each of their blocks takes 8 bins, a sector of a row, and each of its 128 groups
// of threads consecutive rows.
inline constexpr unsigned scan_threads = 1024, scan_bins = 8;
inline constexpr unsigned scan_groups = scan_threads / scan_bins;

// Of a thread's bin: the sum of the groups before its own, and of all.
struct BinSums {
  unsigned before, all;
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
    sums.all += totals[w][bin];
  }
  return sums;
}

// 2. Turns counts into places: for each bin the exclusive sum over the blocks, and room for its list. A group of
// threads takes up to four consecutive blocks.
inline constexpr unsigned scan_rows = (bin_blocks + scan_groups - 1) / scan_groups;
static __global__ void __launch_bounds__(scan_threads) bin_scan_kernel(BinnedCircles bins) {
  __shared__ unsigned from[scan_bins];
  const unsigned blocks = bins.shares.blocks, count = bins.grid.count();
  const unsigned own = threadIdx.x % scan_bins, bin = blockIdx.x * scan_bins + own;
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
  const unsigned wanted = bins.wanted(sums.all, summary.halvings());
  unsigned last = 0;  // block from which on there are as many as wanted
#pragma unroll
  for (unsigned r = 0; r < scan_rows; ++r) {
    if (first + r < blocks && bin < count) {
      bins.counts[std::size_t(first + r) * count + bin] = before;
      if (sums.all - before >= wanted) last = first + r;
    }
    before += counted[r];
  }
  if (last > 0) atomicMax(&from[own], last);
  __syncthreads();
  if (threadIdx.x >= scan_bins || bin >= count) return;
  const unsigned skipped = bins.counts[std::size_t(from[own]) * count + bin];
  bins.lists[bin] = bins.add_list(sums.all, skipped ? from[own] : 0, skipped);
}

// 3. Puts each circle's index into its bins' lists, from block `from` of the list on; later into those of the bins that
// are unfinished.
static __global__ void __launch_bounds__(bin_threads)
    bin_scatter_kernel(const float* circles,  // [n][8]
                       std::size_t n, Frame f, BinnedCircles bins, bool later) {
  BinScatter block(circles, n, f, bins);
  if (block.begin(later)) block.write();
}

inline BinnedCircles::BinnedCircles(const Args& a, float needed, bool columns)
    : grid(a.frame, Bins::columns), shares(a.n), halvings(needed) {
  columns = columns && columns_fit(a, grid.count());
  if (!columns) grid = BinGrid(a.frame, Bins::lists);
  const Room room(a, grid.count(), columns ? Bins::columns : Bins::lists);
  auto* const memory = static_cast<char*>(a.workspace->scratch(room.bytes, a.scratch_bytes));
  done = columns ? a.workspace->counters(1) : nullptr;
  parts = columns && !done ? nullptr : reinterpret_cast<Summary*>(memory);
  if (!parts) return;
  summary = parts + shares.blocks;
  bits = columns ? reinterpret_cast<unsigned*>(memory + room.bits) : nullptr;
  keys = reinterpret_cast<BinKey*>(memory + room.keys);
  counts = reinterpret_cast<unsigned*>(memory + room.counts);
  lists = reinterpret_cast<BinList*>(memory + room.lists);
  unfinished = reinterpret_cast<Unfinished*>(memory + room.unfinished);
  cursor = reinterpret_cast<Cursor*>(memory + room.cursor), indices = reinterpret_cast<unsigned*>(cursor + 1);
  capacity = unsigned(room.entries);
}

inline Status BinnedCircles::fill(const Args& a) const {
  if (!parts) return {Code::out_of_memory, 0, "no memory for the bins"};
  if (bits) return fill_bits(a);
  const std::size_t bins = grid.count();
  if (auto s = launch(
          bin_count_kernel,
          {.grid = shares.blocks, .block = bin_threads, .shared_bytes = bins * sizeof(unsigned), .stream = a.stream},
          a.circles, a.n, a.frame, *this);
      !s)
    return s;
  if (auto s = launch(bin_scan_kernel,
                      {.grid = unsigned(ceil_div(bins, scan_bins)), .block = scan_threads, .stream = a.stream}, *this);
      !s)
    return s;
  return scatter(a, false);
}

inline Status BinnedCircles::scatter(const Args& a, bool later) const {
  return launch(bin_scatter_kernel,
                {.grid = shares.blocks,
                 .block = bin_threads,
                 .shared_bytes = BinGrid::shared_bytes_to_scatter(grid.count()),
                 .stream = a.stream},
                a.circles, a.n, a.frame, *this, later);
}

}  // namespace upsweep::ladders::render

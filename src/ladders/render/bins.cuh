// Circles by bin, in order: count, scan, ordered scatter.
#pragma once
#include "kernel/block.h"
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
  Summary summary;
  const float per_circle = 3.14159274f / (f.step_x * f.step_y);
  bins.shares.each(
      n, [&](std::size_t at) { return load_circle(circles, at); },
      [&](unsigned batch, const Circle& c, bool there) {
        const Box box = there ? bounds_of(f, c.x, c.y, c.radius) : Box{0, 0, 0, 0};
        const BinKey key = bins.grid.key_of(box);
        if (there) summary.take(c, box, per_circle), bins.keys[bins.shares.place(batch)] = key;
        bins.grid.each(f, bins.shares.lanes, key, c, box,
                       [&](unsigned bin, unsigned) { atomicAdd(&counted[bin], 1u); });
      });
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin < count; bin += bin_threads)
    bins.counts[std::size_t(blockIdx.x) * count + bin] = counted[bin];
  summary.halvings /= float(f.width) * float(f.height);
  summary = block_summary(summary);
  if (threadIdx.x == 0) bins.parts[blockIdx.x] = summary;
}

// 2. Turns counts into places: for each bin the exclusive sum over the blocks, and room for its list. A block takes 8
// bins, a sector of a block's counts; 128 groups of threads take up to four consecutive blocks each.
inline constexpr unsigned scan_threads = 1024, scan_warps = scan_threads / warp_size, scan_bins = 8;
inline constexpr unsigned scan_rows = bin_blocks * scan_bins / scan_threads;
static __global__ void __launch_bounds__(scan_threads) bin_scan_kernel(BinnedCircles bins) {
  __shared__ unsigned totals[scan_warps][scan_bins], from[scan_bins];
  __shared__ float depth;
  const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size, blocks = bins.shares.blocks;
  const unsigned count = bins.grid.count(), own = threadIdx.x % scan_bins, bin = blockIdx.x * scan_bins + own;
  const unsigned first = threadIdx.x / scan_bins * scan_rows;
  unsigned counted[scan_rows], sum = 0;
#pragma unroll
  for (unsigned r = 0; r < scan_rows; ++r)
    counted[r] = first + r < blocks && bin < count ? bins.counts[std::size_t(first + r) * count + bin] : 0;
  if (warp == 0 && lane < scan_bins) from[lane] = 0;

  Summary summary;
  if (threadIdx.x < blocks) summary = bins.parts[threadIdx.x];
  summary = block_summary(summary);
  if (threadIdx.x == 0) {
    depth = summary.halvings;
    if (blockIdx.x == 0) *bins.summary = summary;
  }

  for (const unsigned c : counted) sum += c;
  unsigned before = sum;
  for (unsigned distance = scan_bins; distance < warp_size; distance *= 2) {
    const unsigned left = shuffle_up(before, distance);
    if (lane >= distance) before += left;
  }
  if (lane >= warp_size - scan_bins) totals[warp][own] = before;
  before -= sum;
  __syncthreads();
  unsigned all = 0;
  for (unsigned w = 0; w < scan_warps; ++w) {
    before += w < warp ? totals[w][own] : 0;
    all += totals[w][own];
  }
  const unsigned wanted = bins.wanted(all, depth);
  unsigned last = 0;  // block from which on there are as many as wanted
#pragma unroll
  for (unsigned r = 0; r < scan_rows; ++r) {
    if (first + r < blocks && bin < count) {
      bins.counts[std::size_t(first + r) * count + bin] = before;
      if (all - before >= wanted) last = first + r;
    }
    before += counted[r];
  }
  if (last > 0) atomicMax(&from[own], last);
  __syncthreads();
  if (warp > 0 || lane >= scan_bins || bin >= count) return;
  bins.unfinished->listed[bin] = 0;
  const unsigned begin = atomicAdd(bins.cursor, all);
  const unsigned skipped = bins.counts[std::size_t(from[lane]) * count + bin];
  const bool fits = begin <= bins.capacity && all <= bins.capacity - begin;
  bins.lists[bin] = {fits ? begin : BinList::none, all, skipped ? from[lane] : 0, skipped};
}

// 3. Puts each circle's index into its bins' lists, at first from block `from` of the list on; later, of the bins that
// are unfinished, the others.
static __global__ void __launch_bounds__(bin_threads)
    bin_scatter_kernel(const float* circles,  // [n][8]
                       std::size_t n, Frame f, BinnedCircles bins, bool later) {
  BinScatter block(circles, n, f, bins);
  if (block.begin(later)) block.write();
}

// Bytes of scratch: what lists of four bins a circle take, and no less than 16 MiB. Longer lists are left out.
inline BinnedCircles::BinnedCircles(const Args& a, float needed)
    : grid(a.frame),
      shares(a.n),
      capacity(unsigned(a.n < (std::size_t{1} << 29) ? (std::size_t{1} << 22) + 4 * a.n : 0xfffffffeu)),
      halvings(needed) {
  std::size_t bytes = 0;
  const auto reserve = [&](std::size_t more) {
    return bytes += ceil_div(more, 16) * 16, bytes - ceil_div(more, 16) * 16;
  };
  const std::size_t at_parts = reserve((shares.blocks + 1) * sizeof(Summary));
  const std::size_t at_keys = reserve(a.n * sizeof(BinKey));
  const std::size_t at_counts = reserve(std::size_t(shares.blocks) * grid.count() * sizeof(unsigned));
  const std::size_t at_lists = reserve(grid.count() * sizeof(BinList));
  const std::size_t at_unfinished = reserve(sizeof(Unfinished));
  const std::size_t at_indices = reserve((std::size_t(capacity) + 1) * sizeof(unsigned));
  auto* const memory = static_cast<char*>(a.workspace->scratch(bytes));
  parts = reinterpret_cast<Summary*>(memory);
  if (!memory) return;
  parts = reinterpret_cast<Summary*>(memory + at_parts), summary = parts + shares.blocks;
  keys = reinterpret_cast<BinKey*>(memory + at_keys);
  counts = reinterpret_cast<unsigned*>(memory + at_counts);
  lists = reinterpret_cast<BinList*>(memory + at_lists);
  unfinished = reinterpret_cast<Unfinished*>(memory + at_unfinished);
  cursor = reinterpret_cast<unsigned*>(memory + at_indices), indices = cursor + 1;
}

inline Status BinnedCircles::fill(const Args& a) const {
  if (!parts) return {Code::out_of_memory, 0, "no memory for the bins"};
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
                 .shared_bytes = grid.count() * BinGrid::shared_bytes_each,
                 .stream = a.stream},
                a.circles, a.n, a.frame, *this, later);
}

}  // namespace upsweep::ladders::render

// Circles by bin, in order: count, scan, ordered scatter. A bin is a square of the image.
#pragma once
#include "kernel/block.h"
#include "ladders/render/blend.h"
#include "ladders/render/survey.cuh"

namespace upsweep::ladders::render {

// Bins of 32 x 32 pixels; larger ones for a larger image, so that a block's counters fit in shared memory.
struct BinGrid {
  static constexpr unsigned most = 4096;
  unsigned side, columns, rows;
  explicit BinGrid(const Frame& f) : side(32) {
    while (ceil_div(f.width, side) * ceil_div(f.height, side) > most) side *= 2;
    columns = unsigned(ceil_div(f.width, side)), rows = unsigned(ceil_div(f.height, side));
  }
  UPSWEEP_HD unsigned count() const { return columns * rows; }

  // Calls f(bin) for every bin in which the circle covers a pixel, and perhaps for others; the same ones every time.
  template <class F>
  __device__ void each(const Frame& frame, const float* circle, F&& f) const {
    const float x = circle[0], y = circle[1], radius = circle[3], radius2 = square(radius);
    const Box b = bounds_of(frame, x, y, radius);
    if (b.empty()) return;
    const unsigned first = unsigned(b.left) / side, last = unsigned(b.right - 1) / side;
    for (unsigned r = unsigned(b.top) / side; r <= unsigned(b.bottom - 1) / side; ++r) {
      const float top = centre_y(frame, r * side), bottom = centre_y(frame, min((r + 1) * side, frame.height) - 1);
      for (unsigned c = first; c <= last; ++c)
        if (reaches(x, y, radius2, centre_x(frame, c * side), top,
                    centre_x(frame, min((c + 1) * side, frame.width) - 1), bottom))
          f(r * columns + c);
    }
  }
};

// A block of count and scatter takes this many circles, in batches of one per thread.
inline constexpr unsigned bin_threads = 256, bin_batches = 4, bin_share = bin_threads * bin_batches;

// Where each bin's list is. A list that does not fit in the array is left out: `begin` is then no_list.
struct BinList {
  static constexpr unsigned none = 0xffffffffu;
  unsigned begin, count;
};

// 1. How many of its circles a block has for each bin; and the range of colours.
static __global__ void __launch_bounds__(bin_threads) bin_count_kernel(const float* circles,  // [n][8]
                                                                       std::size_t n, Frame f, BinGrid bins,
                                                                       unsigned* counts,    // [blocks][bins]
                                                                       unsigned* cursor) {  // [1], set to 0
  unsigned* const counted = dynamic_shared<unsigned>();                                     // [bins]
  if (blockIdx.x == 0 && threadIdx.x == 0) *cursor = 0;
  for (unsigned bin = threadIdx.x; bin < bins.count(); bin += bin_threads) counted[bin] = 0;
  __syncthreads();
  const std::size_t begin = std::size_t(blockIdx.x) * bin_share, end = begin + bin_share < n ? begin + bin_share : n;
  for (std::size_t k = begin + threadIdx.x; k < end; k += bin_threads)
    bins.each(f, circles + k * floats_per_circle, [&](unsigned bin) { atomicAdd(&counted[bin], 1u); });
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin < bins.count(); bin += bin_threads)
    counts[std::size_t(blockIdx.x) * bins.count() + bin] = counted[bin];
}

// 2. Turns counts into places: for each bin the exclusive sum over the blocks, and room for its list. A block takes 32
// bins, one for each lane; each of its warps sums a part of the blocks.
inline constexpr unsigned scan_warps_of_bins = 32;
static __global__ void __launch_bounds__(1024) bin_scan_kernel(unsigned* counts,  // [blocks][bins], becomes places
                                                               unsigned blocks, unsigned bins,
                                                               BinList* lists,    // [bins]
                                                               unsigned* cursor,  // [1]
                                                               unsigned capacity) {
  __shared__ unsigned totals[scan_warps_of_bins][warp_size];
  const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const unsigned bin = blockIdx.x * warp_size + lane;
  const unsigned first = unsigned(std::size_t(blocks) * warp / scan_warps_of_bins);
  const unsigned end = unsigned(std::size_t(blocks) * (warp + 1) / scan_warps_of_bins);
  unsigned sum = 0;
  if (bin < bins)
    for (unsigned b = first; b < end; ++b) sum += counts[std::size_t(b) * bins + bin];
  totals[warp][lane] = sum;
  __syncthreads();
  unsigned before = 0, all = 0;
  for (unsigned w = 0; w < scan_warps_of_bins; ++w) {
    before += w < warp ? totals[w][lane] : 0;
    all += totals[w][lane];
  }
  if (bin >= bins) return;
  for (unsigned b = first; b < end; ++b) {
    unsigned& place = counts[std::size_t(b) * bins + bin];
    const unsigned count = place;
    place = before;
    before += count;
  }
  if (warp == 0) {
    const unsigned begin = atomicAdd(cursor, all);
    lists[bin] = {begin <= capacity && all <= capacity - begin ? begin : BinList::none, all};
  }
}

// 3. Puts each circle's index into its bins' lists. A circle's place among those of its batch is the number of bits
// below its own in the bin's bitmap, so that the lists are in order.
static __global__ void __launch_bounds__(bin_threads) bin_scatter_kernel(const float* circles,  // [n][8]
                                                                         std::size_t n, Frame f, BinGrid bins,
                                                                         const unsigned* places,  // [blocks][bins]
                                                                         const BinList* lists,    // [bins]
                                                                         unsigned* indices) {     // [capacity]
  constexpr unsigned words = bin_threads / warp_size;
  unsigned* const bitmap = dynamic_shared<unsigned>();   // [bins][words]
  unsigned* const next = bitmap + bins.count() * words;  // [bins]: the place of the batch's first circle
  const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  for (unsigned bin = threadIdx.x; bin < bins.count(); bin += bin_threads) {
    const BinList list = lists[bin];
    next[bin] =
        list.begin == BinList::none ? BinList::none : list.begin + places[std::size_t(blockIdx.x) * bins.count() + bin];
  }
  for (unsigned w = threadIdx.x; w < bins.count() * words; w += bin_threads) bitmap[w] = 0;
  for (unsigned batch = 0; batch < bin_batches; ++batch) {
    const std::size_t k = std::size_t(blockIdx.x) * bin_share + batch * bin_threads + threadIdx.x;
    const float* const circle = circles + k * floats_per_circle;
    __syncthreads();
    if (k < n) bins.each(f, circle, [&](unsigned bin) { atomicOr(&bitmap[bin * words + warp], 1u << lane); });
    __syncthreads();
    if (k < n)
      bins.each(f, circle, [&](unsigned bin) {
        if (next[bin] == BinList::none) return;
        unsigned place = next[bin] + unsigned(__popc(bitmap[bin * words + warp] & ((1u << lane) - 1)));
        for (unsigned w = 0; w < warp; ++w) place += unsigned(__popc(bitmap[bin * words + w]));
        indices[place] = unsigned(k);
      });
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < bins.count(); bin += bin_threads) {
      unsigned count = 0;
      for (unsigned w = 0; w < words; ++w) {
        count += unsigned(__popc(bitmap[bin * words + w]));
        bitmap[bin * words + w] = 0;
      }
      if (next[bin] != BinList::none) next[bin] += count;
    }
  }
}

// The lists of a call, in its workspace.
struct BinnedCircles {
  BinGrid grid;
  Survey survey;
  unsigned* counts;   // [blocks][bins]
  BinList* lists;     // [bins]
  unsigned* indices;  // [capacity]
  unsigned* cursor;   // [1]
  unsigned blocks, capacity;

  // Bytes of scratch: what lists of four bins a circle take, and no less than 16 MiB. Longer lists are left out.
  explicit BinnedCircles(const Args& a)
      : grid(a.frame),
        survey(nullptr, a.n),
        blocks(unsigned(ceil_div(a.n, bin_share)) + (a.n == 0)),
        capacity(unsigned(a.n < (std::size_t{1} << 29) ? (std::size_t{1} << 22) + 4 * a.n : 0xfffffffeu)) {
    const std::size_t of_counts = std::size_t(blocks) * grid.count() * sizeof(unsigned);
    const std::size_t bytes = survey_blocks * sizeof(Range) + of_counts + grid.count() * sizeof(BinList) +
                              (std::size_t(capacity) + 1) * sizeof(unsigned);
    auto* at = static_cast<char*>(a.workspace->scratch(bytes));
    survey.ranges = reinterpret_cast<Range*>(at);
    if (!at) return;
    counts = reinterpret_cast<unsigned*>(at += survey_blocks * sizeof(Range));
    lists = reinterpret_cast<BinList*>(at += of_counts);
    cursor = reinterpret_cast<unsigned*>(at += grid.count() * sizeof(BinList));
    indices = cursor + 1;
  }

  Status fill(const Args& a) const {
    if (!survey.ranges) return {Code::out_of_memory, 0, "no memory for the bins"};
    const std::size_t bins = grid.count();
    if (auto s = run_survey(a, survey); !s) return s;
    if (auto s =
            launch(bin_count_kernel,
                   {.grid = blocks, .block = bin_threads, .shared_bytes = bins * sizeof(unsigned), .stream = a.stream},
                   a.circles, a.n, a.frame, grid, counts, cursor);
        !s)
      return s;
    if (auto s =
            launch(bin_scan_kernel, {.grid = unsigned(ceil_div(bins, warp_size)), .block = 1024, .stream = a.stream},
                   counts, blocks, unsigned(bins), lists, cursor, capacity);
        !s)
      return s;
    constexpr std::size_t words = bin_threads / warp_size + 1;
    return launch(
        bin_scatter_kernel,
        {.grid = blocks, .block = bin_threads, .shared_bytes = bins * words * sizeof(unsigned), .stream = a.stream},
        a.circles, a.n, a.frame, grid, counts, lists, indices);
  }
};

}  // namespace upsweep::ladders::render

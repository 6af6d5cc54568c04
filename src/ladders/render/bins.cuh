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

  // For all lanes of a warp, with a circle k each, of n: calls f(bin, lane) for every bin in which that lane's circle
  // covers a pixel, and perhaps for others; the same ones every time.
  template <class F>
  __device__ void each(const Frame& frame, const float* circles, std::size_t k, std::size_t n, F&& f) const {
    const unsigned lane = threadIdx.x % warp_size;
    Place own{};
    if (k < n) {
      const float* const c = circles + k * floats_per_circle;
      own.x = c[0], own.y = c[1], own.radius2 = square(c[3]);
      if (const Box b = bounds_of(frame, c[0], c[1], c[3]); !b.empty()) {
        own.column = unsigned(b.left) / side, own.row = unsigned(b.top) / side;
        own.wide = unsigned(b.right - 1) / side + 1 - own.column;
        own.cells = own.wide * (unsigned(b.bottom - 1) / side + 1 - own.row);
      }
    }
    const auto visit = [&](const Place& p, unsigned cell, unsigned owner) {
      const unsigned column = p.column + cell % p.wide, row = p.row + cell / p.wide;
      if (reaches(p.x, p.y, p.radius2, centre_x(frame, column * side), centre_y(frame, row * side),
                  centre_x(frame, min((column + 1) * side, frame.width) - 1),
                  centre_y(frame, min((row + 1) * side, frame.height) - 1)))
        f(row * columns + column, owner);
    };
    // A circle of few bins is its lane's work; the bins of the others, one circle after another, are that of all lanes.
    constexpr unsigned few = 4;
    const bool many = own.cells > few;
    if (!many)
      for (unsigned cell = 0; cell < own.cells; ++cell) visit(own, cell, lane);
    for (unsigned left = __ballot_sync(all_lanes, many); left; left &= left - 1) {
      const unsigned owner = unsigned(__ffs(int(left))) - 1;
      const Place p = shuffle(own, owner);
      for (unsigned cell = lane; cell < p.cells; cell += warp_size) visit(p, cell, owner);
    }
  }

 private:
  struct Place {
    float x, y, radius2;
    unsigned column, row, wide, cells;  // of bins: the first, how many beside each other, how many in all
  };
};

// A block of count and scatter takes its share of the circles in batches of one per thread.
inline constexpr unsigned bin_threads = 256;

// Where each bin's list is. A list that does not fit in the array is left out: `begin` is then no_list.
struct BinList {
  static constexpr unsigned none = 0xffffffffu;
  unsigned begin, count;
};

// 1. How many of its circles a block has for each bin; and the range of colours.
static __global__ void __launch_bounds__(bin_threads)
    bin_count_kernel(const float* circles,  // [n][8]
                     std::size_t n, unsigned batches, Frame f, BinGrid bins,
                     unsigned* counts,                   // [blocks][bins]
                     unsigned* cursor) {                 // [1], set to 0
  unsigned* const counted = dynamic_shared<unsigned>();  // [bins]
  if (blockIdx.x == 0 && threadIdx.x == 0) *cursor = 0;
  for (unsigned bin = threadIdx.x; bin < bins.count(); bin += bin_threads) counted[bin] = 0;
  __syncthreads();
  for (unsigned batch = 0; batch < batches; ++batch)
    bins.each(f, circles, (std::size_t(blockIdx.x) * batches + batch) * bin_threads + threadIdx.x, n,
              [&](unsigned bin, unsigned) { atomicAdd(&counted[bin], 1u); });
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
static __global__ void __launch_bounds__(bin_threads)
    bin_scatter_kernel(const float* circles,  // [n][8]
                       std::size_t n, unsigned batches, Frame f, BinGrid bins,
                       const unsigned* places,  // [blocks][bins]
                       const BinList* lists,    // [bins]
                       unsigned* indices) {     // [capacity]
  constexpr unsigned words = bin_threads / warp_size;
  unsigned* const bitmap = dynamic_shared<unsigned>();   // [bins][words]
  unsigned* const next = bitmap + bins.count() * words;  // [bins]: the place of the batch's first circle
  const unsigned warp = threadIdx.x / warp_size;
  for (unsigned bin = threadIdx.x; bin < bins.count(); bin += bin_threads) {
    const BinList list = lists[bin];
    next[bin] =
        list.begin == BinList::none ? BinList::none : list.begin + places[std::size_t(blockIdx.x) * bins.count() + bin];
  }
  for (unsigned w = threadIdx.x; w < bins.count() * words; w += bin_threads) bitmap[w] = 0;
  for (unsigned batch = 0; batch < batches; ++batch) {
    const std::size_t first = (std::size_t(blockIdx.x) * batches + batch) * bin_threads, k = first + threadIdx.x;
    __syncthreads();
    bins.each(f, circles, k, n,
              [&](unsigned bin, unsigned owner) { atomicOr(&bitmap[bin * words + warp], 1u << owner); });
    __syncthreads();
    bins.each(f, circles, k, n, [&](unsigned bin, unsigned owner) {
      if (next[bin] == BinList::none) return;
      unsigned place = next[bin] + unsigned(__popc(bitmap[bin * words + warp] & ((1u << owner) - 1)));
      for (unsigned w = 0; w < warp; ++w) place += unsigned(__popc(bitmap[bin * words + w]));
      indices[place] = unsigned(first + warp * warp_size + owner);
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
  unsigned batches, blocks, capacity;

  // Bytes of scratch: what lists of four bins a circle take, and no less than 16 MiB. Longer lists are left out.
  explicit BinnedCircles(const Args& a)
      : grid(a.frame),
        survey(nullptr, a.n),
        batches(batches_for(a.n)),
        blocks(unsigned(ceil_div(a.n, batches * bin_threads)) + (a.n == 0)),
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

  // Four blocks a multiprocessor if there is one batch for each; more batches keep the counts small, of which there are
  // as many as blocks.
  static unsigned batches_for(std::size_t n) {
    const std::size_t wanted = n / (4 * bin_threads * std::size_t(device_limits().multiprocessors));
    return unsigned(wanted < 1 ? 1 : wanted < 8 ? wanted : 8);
  }

  Status fill(const Args& a) const {
    if (!survey.ranges) return {Code::out_of_memory, 0, "no memory for the bins"};
    const std::size_t bins = grid.count();
    if (auto s = run_survey(a, survey); !s) return s;
    if (auto s =
            launch(bin_count_kernel,
                   {.grid = blocks, .block = bin_threads, .shared_bytes = bins * sizeof(unsigned), .stream = a.stream},
                   a.circles, a.n, batches, a.frame, grid, counts, cursor);
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
        a.circles, a.n, batches, a.frame, grid, counts, lists, indices);
  }
};

}  // namespace upsweep::ladders::render

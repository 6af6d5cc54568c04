// The part of binning that lists and columns of bits share: the partition of circles among blocks, each circle's bins,
// and a summary of all circles.
#pragma once
#include <bit>

#include "base/threshold.h"
#include "ladders/render/bin_grid.cuh"
#include "ladders/render/summary.cuh"

namespace upsweep::ladders::render {

// Layout of arrays in scratch memory, one after another, each aligned to 16 bytes. add() returns an array's offset.
struct ScratchLayout {
  std::size_t bytes = 0;
  template <class T>
  std::size_t add(std::size_t count) {
    const std::size_t offset = bytes;
    bytes += ceil_div(count * sizeof(T), 16) * 16;
    return offset;
  }
};

// Maximum number of blocks whose summaries can be added: Summary::per_pixel() leaves 9 bits for the sum.
inline constexpr unsigned max_bin_blocks = 512;
// Target number of blocks: four per multiprocessor of a large GPU, and few enough for their counts, a row of 4096 bins
// per block, to stay in L2 (8 MiB). Checks lower it, so that blocks have several batches.
inline constinit Threshold bin_blocks{"bin_blocks", 512, 4, {.min = 1, .max = max_bin_blocks}};

// Partition of the circles among blocks. A block takes consecutive circles, in batches. A warp takes consecutive
// circles of a batch, one per lane in its first `lanes` lanes; `lanes` is a power of two. A small number of circles is
// spread over few lanes of many warps, because a whole warp works on the bins of a large circle.
struct BlockPartition {
  unsigned lanes, batches, blocks;
  unsigned words_shift;  // log2 of the words per batch of a block, with one bit per circle
  // `max_blocks` blocks take one batch each before any takes a second.
  BlockPartition(std::size_t n, unsigned max_blocks) {
    const std::size_t per_warp = ceil_div(n, std::size_t{bin_blocks} * bin_warps);
    lanes = unsigned(per_warp < 4 ? 4 : per_warp < warp_size ? std::bit_ceil(per_warp) : warp_size);
    batches = unsigned(ceil_div(n, std::size_t{max_blocks} * bin_warps * lanes));
    if (batches < 1) batches = 1;
    blocks = unsigned(ceil_div(n, std::size_t{batches} * bin_warps * lanes));
    if (blocks < 1) blocks = 1;
    words_shift = unsigned(std::countr_zero(bin_warps * lanes / warp_size));
  }
  __device__ std::size_t first_of_block(unsigned batch) const {
    return (std::size_t(blockIdx.x) * batches + batch) * bin_warps * lanes;
  }
  UPSWEEP_HD unsigned words() const { return 1u << words_shift; }
  // Calls work(batch, at, item, there) for batches [begin, end). If `there`, the thread has a circle in the batch: `at`
  // is the circle's index, and `item` is load(at), which is issued while the previous batch is processed.
  template <class Load, class F>
  __device__ void each(std::size_t n, unsigned begin, unsigned end, Load&& load, F&& work) const {
    const unsigned lane = threadIdx.x % warp_size;
    std::size_t next_at = first_of_block(begin) + threadIdx.x / warp_size * lanes + lane;
    bool next_there = lane < lanes && begin < end && next_at < n;
    decltype(load(0)) next{};
    if (next_there) next = load(next_at);
    for (unsigned batch = begin; batch < end; ++batch) {
      const auto item = next;
      const std::size_t at = next_at;
      const bool there = next_there;
      next_at += bin_warps * lanes;
      next_there = lane < lanes && batch + 1 < end && next_at < n;
      if (next_there) next = load(next_at);
      work(batch, at, item, there);
    }
  }
};

// Base of BinLists and BinColumns: the bins, the partition of circles among blocks, and the summaries.
struct Bins {
  BinGrid grid;
  BlockPartition partition;
  Summary* partial;  // [blocks]
  Summary* summary;  // [1]

  // Block-wide: calls visit(bin, lane) for the bins of the block's circles, where `lane` is the circle's lane in the
  // calling warp, and store_key(circle, key) for each circle. Stores the block's summary. A barrier follows all visits.
  template <class StoreKey, class Visit>
  __device__ void each_bin(const float* circles, std::size_t n, const Frame& f, StoreKey&& store_key,
                           Visit&& visit) const {
    Seen seen;
    const float per_circle = 3.14159274f / (f.step_x * f.step_y);
    partition.each(
        n, 0, partition.batches, [&](std::size_t at) { return load_circle(circles, at); },
        [&](unsigned, std::size_t at, const Circle& c, bool there) {
          const Box box = there ? grid.axes.bounds(c.x, c.y, c.radius) : Box{0, 0, 0, 0};
          const BinKey key = grid.key_of(box);
          if (there) seen.take(c, box, per_circle);
          if (there) store_key(at, key);
          grid.each(f, partition.lanes, key, c, box, visit);
        });
    const Summary of_block = block_summary(seen.summary());
    if (threadIdx.x == 0) partial[blockIdx.x] = of_block.per_pixel(float(f.width) * float(f.height));
  }
  // Block-wide: returns the summary of all circles to every thread.
  __device__ Summary summarize() const {
    Summary total;
    for (unsigned block = threadIdx.x; block < partition.blocks; block += blockDim.x) total.add(partial[block]);
    return block_summary(total);
  }
};

}  // namespace upsweep::ladders::render

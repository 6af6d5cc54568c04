// Bins, as lists and columns of bits both have them: how blocks share the circles, which bins these reach, and a
// summary of them.
#pragma once
#include <bit>

#include "ladders/render/bin_grid.cuh"
#include "ladders/render/summary.cuh"

namespace upsweep::ladders::render {

// Lays arrays out in scratch memory, one behind the other, each aligned to 16 bytes.
struct ScratchLayout {
  std::size_t bytes = 0;
  template <class T>
  std::size_t add(std::size_t count) {
    const std::size_t offset = bytes;
    bytes += ceil_div(count * sizeof(T), 16) * 16;
    return offset;
  }
};

// Blocks to aim at: four per multiprocessor of a large GPU, and few enough for a row of counts per block, 4096 bins
// each, to stay in L2 (8 MiB). On the emulator so few that small checks come to blocks of several batches.
inline constexpr unsigned bin_blocks = emulated ? 4 : 512;
// Blocks whose summaries may be added up: Summary::per_pixel() leaves 9 bits for them.
inline constexpr unsigned max_bin_blocks = 512;

// Each block takes consecutive circles, in batches; of a batch, each warp takes consecutive circles, one for each of
// its first `lanes` lanes, a power of two. Few circles occupy few lanes of many warps, because the bins of a large
// circle are the work of a whole warp.
struct BlockPartition {
  unsigned lanes, batches, blocks;
  unsigned words_shift;  // a batch of the block has words() words with a bit for each circle
  // `max_blocks`: blocks that take a batch each, before any takes a second one.
  BlockPartition(std::size_t n, unsigned max_blocks) {
    const std::size_t per_warp = ceil_div(n, bin_blocks * bin_warps);
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
  // Calls work(batch, at, item, there) for batches [begin, end): `at` is the index of the thread's circle, if it has
  // one, and the item load(at), which is done while the batch before is worked on.
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

// The base of BinLists and BinColumns.
struct Bins {
  BinGrid grid;
  BlockPartition partition;
  Summary* partial;  // [blocks]
  Summary* summary;  // [1]

  // Calls visit(bin, lane) for the bins of the block's circles; `lane` is that of the circle in this warp. Passes each
  // thread's circle to store_key(circle, key), and leaves a summary. For all threads of the block; has a barrier after
  // all visits.
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
  // The summary of all circles. For all threads of a block; all have it.
  __device__ Summary summarize() const {
    Summary total;
    for (unsigned block = threadIdx.x; block < partition.blocks; block += blockDim.x) total.add(partial[block]);
    return block_summary(total);
  }
};

}  // namespace upsweep::ladders::render

// The lists of the circles that reach a bin, and how blocks share the circles to make them (bins.cuh).
#pragma once
#include "ladders/render/bin_grid.cuh"
#include "ladders/render/survey.cuh"

namespace upsweep::ladders::render {

// Blocks to aim at: enough to fill a large GPU's multiprocessors, few enough for the counts of every block and bin to
// stay in L2.
inline constexpr unsigned bin_blocks = 512;

// Each block takes consecutive circles, in batches; of a batch, each warp takes consecutive circles, one for each of
// its first `lanes` lanes. Few circles occupy few lanes of many warps, because the bins of a large circle are the work
// of a whole warp.
struct Shares {
  unsigned lanes, batches, blocks;
  explicit Shares(std::size_t n) {
    const std::size_t wanted = ceil_div(n, bin_blocks * bin_warps);
    lanes = unsigned(wanted < 4 ? 4 : wanted < warp_size ? wanted : warp_size);
    batches = unsigned(ceil_div(n, std::size_t{bin_blocks} * bin_warps * lanes));
    if (batches < 1) batches = 1;
    blocks = unsigned(ceil_div(n, std::size_t{batches} * bin_warps * lanes));
    if (blocks < 1) blocks = 1;
  }
  __device__ std::size_t first_of_block(unsigned batch) const {
    return (std::size_t(blockIdx.x) * batches + batch) * bin_warps * lanes;
  }
  // The place of the thread's circle in the batch; or none.
  __device__ std::size_t place(unsigned batch) const {
    return first_of_block(batch) + threadIdx.x / warp_size * lanes + threadIdx.x % warp_size;
  }
  // Calls work(batch, item, there) for each batch, with load(the place of the thread's circle), which is done while the
  // batch before is worked on.
  template <class Load, class F>
  __device__ void each(std::size_t n, Load&& load, F&& work) const {
    const auto there = [&](unsigned batch) {
      return batch < batches && threadIdx.x % warp_size < lanes && place(batch) < n;
    };
    decltype(load(0)) next{};
    if (there(0)) next = load(place(0));
    for (unsigned batch = 0; batch < batches; ++batch) {
      const auto item = next;
      if (there(batch + 1)) next = load(place(batch + 1));
      work(batch, item, there(batch));
    }
  }
};

// A bin's list: entries [begin, begin + count) of the array. Only those of the circles of blocks from `from` on are
// there at first, that is, all but `skipped`. A list that does not fit in the array is left out.
struct BinList {
  static constexpr unsigned none = 0xffffffffu;
  unsigned begin, count, from, skipped;
  UPSWEEP_HD bool listed() const { return begin != none; }
};

// The bins whose lists turned out to be needed from the first circle on.
struct Unfinished {
  unsigned count;
  unsigned bins[BinGrid::most], listed[BinGrid::most];
};

// The lists of a call, in its workspace.
struct BinnedCircles {
  BinGrid grid;
  Shares shares;
  Summary* parts;          // [blocks]
  Summary* summary;        // [1]
  BinKey* keys;            // [n]
  unsigned* counts;        // [blocks][bins]
  BinList* lists;          // [bins]
  Unfinished* unfinished;  // [1]
  unsigned* cursor;        // [1]
  unsigned* indices;       // [capacity]
  unsigned capacity;
  float halvings;  // that are needed of each pixel; 0: the lists are complete at once

  explicit BinnedCircles(const Args& a, float needed = 0);
  Status fill(const Args& a) const;
  // Puts the rest of the unfinished bins' circles into their lists.
  Status complete(const Args& a) const { return scatter(a, true); }

  // Lists the bin as unfinished. For all threads of a block.
  __device__ void finish_later(unsigned bin) const {
    if (threadIdx.x == 0 && atomicExch(&unfinished->listed[bin], 1u) == 0)
      unfinished->bins[atomicAdd(&unfinished->count, 1u)] = bin;
  }
  // Entries to have at first of a list: six times the mean that is needed if the image is `depth` halvings deep,
  // because a bin waits for its slowest pixel, and half as many circles cover the edge of the image; and enough to find
  // larger circles under a heap of small ones. All of them where that saves little.
  __device__ unsigned wanted(unsigned count, float depth) const {
    if (halvings == 0 || depth < 8 * halvings) return count;
    return max(emulated ? 40u : 768u, unsigned(float(count) * (6 * halvings / depth)));
  }

 private:
  Status scatter(const Args& a, bool later) const;
};

}  // namespace upsweep::ladders::render

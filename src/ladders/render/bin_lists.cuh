// The lists of the circles that reach a bin, and how blocks share the circles to make them (bins.cuh).
#pragma once
#include <bit>

#include "ladders/render/bin_grid.cuh"
#include "ladders/render/survey.cuh"

namespace upsweep::ladders::render {

// Blocks to aim at: enough to fill a large GPU's multiprocessors, few enough for the counts of every block and bin to
// stay in L2. On the emulator, so few that checks come to blocks of several batches.
inline constexpr unsigned bin_blocks = emulated ? 4 : 512;

// Each block takes consecutive circles, in batches; of a batch, each warp takes consecutive circles, one for each of
// its first `lanes` lanes, a power of two. Few circles occupy few lanes of many warps, because the bins of a large
// circle are the work of a whole warp.
struct Shares {
  unsigned lanes, batches, blocks;
  unsigned words_shift;  // a batch of the block has words() words with a bit for each circle
  explicit Shares(std::size_t n) {
    const std::size_t wanted = ceil_div(n, bin_blocks * bin_warps);
    lanes = unsigned(wanted < 4 ? 4 : wanted < warp_size ? std::bit_ceil(wanted) : warp_size);
    batches = unsigned(ceil_div(n, std::size_t{bin_blocks} * bin_warps * lanes));
    if (batches < 1) batches = 1;
    blocks = unsigned(ceil_div(n, std::size_t{batches} * bin_warps * lanes));
    if (blocks < 1) blocks = 1;
    words_shift = unsigned(std::countr_zero(bin_warps * lanes / warp_size));
  }
  __device__ std::size_t first_of_block(unsigned batch) const {
    return (std::size_t(blockIdx.x) * batches + batch) * bin_warps * lanes;
  }
  UPSWEEP_HD unsigned words() const { return 1u << words_shift; }
  // Words with a bit for each circle, in order.
  UPSWEEP_HD unsigned column() const { return blocks << words_shift; }
  // Calls work(batch, at, item, there) for batches [begin, end): `at` is the place of the thread's circle, if it has
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

// A bin's list, or its end: that of the circles of blocks from `from` on, which are all but the first `skipped`. It is
// the array's entries [begin, begin + size()). What does not fit there is left out.
struct BinList {
  static constexpr unsigned none = 0xffffffffu;
  unsigned begin, count, from, skipped;
  UPSWEEP_HD bool listed() const { return begin != none; }
  UPSWEEP_HD unsigned size() const { return count - skipped; }
  // The same, of which no block has anything to write.
  UPSWEEP_HD BinList written() const { return {begin, count, none, skipped}; }
};

// The bins whose lists turned out to be needed from the first circle on, or to be the work of several blocks; and how
// many blocks have done theirs.
struct Unfinished {
  unsigned count;
  unsigned bins[BinGrid::most], done[BinGrid::most];
};

// Where in the array of entries the next list begins. All lists together may have more than 2^32 entries, though not
// there.
using Cursor = unsigned long long;

struct Spare {
  void* memory;  // aligned to 16 bytes
  std::size_t bytes;
};

// The lists of a call, in its workspace.
struct BinnedCircles {
  BinGrid grid;
  Shares shares;
  Summary* parts;          // [blocks]
  Summary* summary;        // [1]
  BinKey* keys;            // [n]
  unsigned* counts;        // [blocks][bins]
  unsigned* bits;          // [bins][blocks][words]: instead of keys, counts and lists; or null
  unsigned* done;          // [1]: a counter of the workspace
  BinList* lists;          // [bins]
  Unfinished* unfinished;  // [1]
  Cursor* cursor;          // [1]
  unsigned* indices;       // [capacity]
  unsigned capacity;       // entries
  float halvings;          // that are needed of each pixel; 0: the lists are complete at once

  // `columns`: bits will do instead of lists, if they are not too many.
  explicit BinnedCircles(const Args& a, float needed = 0, bool columns = false);
  Status fill(const Args& a) const;
  __device__ unsigned* column(unsigned bin) const { return bits + std::size_t{bin} * shares.column(); }
  // Fills the lists of the unfinished bins.
  Status complete(const Args& a) const { return scatter(a, true); }

  // Makes room for a list, or its end. By one thread.
  __device__ BinList add_list(unsigned count, unsigned from, unsigned skipped) const {
    const Cursor begin = atomicAdd(cursor, Cursor{count - skipped});
    return {begin + count - skipped <= capacity ? unsigned(begin) : BinList::none, count, from, skipped};
  }
  // Lists the bin as unfinished, and makes room for its whole list, unless there is none for its end, or it is there
  // already. By one thread of the block that draws the bin, all of whose threads have read `lists[bin]`.
  __device__ void finish_later(unsigned bin, const BinList& list) const {
    if (list.listed()) lists[bin] = list.skipped ? add_list(list.count, 0, 0) : list.written();
    const unsigned number = atomicAdd(&unfinished->count, 1u);
    unfinished->bins[number] = bin, unfinished->done[number] = 0;
  }
  // Memory that nothing else uses once all lists are written: what they have left, or that of keys and counts.
  __device__ Spare spare() const {
    const auto address = [](auto* at) { return reinterpret_cast<std::uintptr_t>(at); };
    const std::uintptr_t end = address(indices + capacity);
    const std::uintptr_t first = (address(indices + min(*cursor, Cursor{capacity})) + 15) / 16 * 16;
    const Spare left{reinterpret_cast<void*>(first), first < end ? end - first : 0};
    const Spare dead{keys, address(lists) - address(keys)};
    return left.bytes > dead.bytes ? left : dead;
  }
  // Calls visit(bin, lane) for the bins of the block's circles; `lane` is that of the circle in this warp. Keeps the
  // circles' keys, unless there are bits, and a summary. For all threads of the block; has a barrier after all visits.
  template <class Visit>
  __device__ void each_bin(const float* circles, std::size_t n, const Frame& f, Visit&& visit) const {
    Seen seen;
    const float per_circle = 3.14159274f / (f.step_x * f.step_y);
    shares.each(
        n, 0, shares.batches, [&](std::size_t at) { return load_circle(circles, at); },
        [&](unsigned, std::size_t at, const Circle& c, bool there) {
          const Box box = there ? grid.axes.bounds(c.x, c.y, c.radius) : Box{0, 0, 0, 0};
          const BinKey key = grid.key_of(box);
          if (there) seen.take(c, box, per_circle);
          if (there && !bits) keys[at] = key;
          grid.each(f, shares.lanes, key, c, box, visit);
        });
    const Summary of_block = block_summary(seen.summary());
    if (threadIdx.x == 0) parts[blockIdx.x] = of_block.per_pixel(float(f.width) * float(f.height));
  }
  // The summary of all circles. For all threads of a block; all have it.
  __device__ Summary summarize() const {
    Summary all;
    for (unsigned block = threadIdx.x; block < shares.blocks; block += blockDim.x) all.add(parts[block]);
    return block_summary(all);
  }
  // Entries to have at first of a list: six times the mean that is needed if the image is `depth` halvings deep,
  // because a bin waits for its slowest pixel, and half as many circles cover the edge of the image; and enough to find
  // larger circles under a heap of small ones. All of them where that saves little.
  __device__ unsigned wanted(unsigned count, float depth) const {
    if (halvings == 0 || depth < 8 * halvings) return count;
    return max(emulated ? 40u : 768u, unsigned(float(count) * (6 * halvings / depth)));
  }

 private:
  Status fill_bits(const Args& a) const;
  Status scatter(const Args& a, bool later) const;
};

}  // namespace upsweep::ladders::render

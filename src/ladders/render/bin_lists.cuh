// The lists of the circles that reach a bin, or of the last of them.
#pragma once
#include "ladders/render/bins.cuh"

namespace upsweep::ladders::render {

// A list has an entry for each circle and bin, and is read by the blocks of its bin alone: bins are the 32 x 32 pixels
// that a block draws.
inline constexpr unsigned list_bin_shift = 5;
// Bins of a window. On the emulator so few that small pictures have several windows.
inline constexpr std::size_t max_list_bins = emulated ? 32 : BinGrid::max_bins;

// Entries of lists that a block sorts in shared memory before it writes them (bin_scatter.cuh): with 16384 and 1024
// bins it has 55 KB, so that four blocks, and with that all 512, are resident on an H100. An array's size; on the
// emulator so small that checks come to chunks that do not fit.
inline constexpr unsigned sorted_entries = emulated ? 1024 : 16384;

// For each bin the offset of its next entry; and either a word of bits for each warp, or where among the entries sorted
// it begins, and each warp goes on.
constexpr std::size_t shared_bytes_to_scatter(std::size_t bins) {
  return bins * sizeof(unsigned) +
         std::max(bins * bin_warps * sizeof(unsigned), ((bin_warps + 1) * bins + 2 + sorted_entries) * sizeof(short));
}

// The circles of a bin, in order: entries [begin, begin + size()) of `indices`. It may be only a suffix: the first
// `skipped` circles, binned by blocks before `from`, are omitted. begin == none: there was no room for the list.
struct BinList {
  static constexpr unsigned none = 0xffffffffu;
  unsigned begin, count, from, skipped;
  UPSWEEP_HD bool listed() const { return begin != none; }
  UPSWEEP_HD unsigned size() const { return count - skipped; }
  // The same list, to which no block has anything to write.
  UPSWEEP_HD BinList written() const { return {begin, count, none, skipped}; }
};

// The bins that are drawn by a second kernel, because their lists turned out to be needed from the first circle on, or
// to be the work of several blocks; and how many blocks have done theirs.
struct DeferredBins {
  unsigned count;
  unsigned bins[BinGrid::max_bins], done[BinGrid::max_bins];
};

// Where in the array of entries the next list begins. All lists together may have more than 2^32 entries, though not
// there.
using Cursor = unsigned long long;

struct FreeScratch {
  void* memory;  // aligned to 16 bytes
  std::size_t bytes;
};

// Entries that the lists of all bins should have room for: four bins a circle, and no less than 16 MiB, which is little
// beside any GPU's memory. On the emulator so few that checks come to lists that find no room.
constexpr std::size_t entries_for(std::size_t n) {
  constexpr std::size_t min_entries = emulated ? 256 : std::size_t{1} << 22;
  return n < (std::size_t{1} << 29) ? min_entries + 4 * n : 0xfffffffe;
}

// Lists in a call's scratch memory.
struct BinLists : Bins {
  // Offsets in scratch memory, the same for all windows of a call.
  struct Layout : ScratchLayout {
    static constexpr unsigned bin_shift = list_bin_shift;
    BlockPartition partition;
    std::size_t bins;  // of a window, at most; 0: not even one finds room
    std::size_t partial, keys, counts, lists, deferred, cursor, entries;

    // As many bins as the shared memory of a block has room for; fewer, where the call limits its scratch, so that
    // their lists find room.
    explicit Layout(const Args& a) : partition(a.n, bin_blocks) {
      bins = max_list_bins;
      while (shared_bytes_to_scatter(bins) > machine().shared_per_block) bins /= 2;
      bins = std::min<std::size_t>(bins, BinGrid(a.frame, bin_shift).count());
      const std::size_t per_bin = std::min(entries_for(a.n) / bins, a.n);
      for (lay_out(a); bins && entries < per_bin * bins; lay_out(a)) bins = std::bit_floor(bins - 1);
    }

   private:
    void lay_out(const Args& a) {
      bytes = 0;
      partial = add<Summary>(partition.blocks + 1);
      keys = add<BinKey>(a.n);
      counts = add<unsigned>(partition.blocks * bins);
      lists = add<BinList>(bins);
      deferred = add<DeferredBins>(1);
      cursor = bytes;
      bytes += sizeof(Cursor);
      entries = entries_for(a.n);
      if (const std::size_t limit = a.scratch_bytes)
        entries = limit < bytes ? 0 : std::min(entries, (limit - bytes) / sizeof(unsigned));
      bytes += entries * sizeof(unsigned);
    }
  };

  BinKey* keys;            // [n]
  unsigned* counts;        // [blocks][bins]
  BinList* lists;          // [bins]
  DeferredBins* deferred;  // [1]
  Cursor* cursor;          // [1]
  unsigned* indices;       // [capacity]
  unsigned capacity;       // entries
  float target_depth;      // optical depth that is needed of each pixel; 0: the lists are complete at once

  BinLists(const Frame& window, const Layout& layout, char* memory, float target)
      : Bins{BinGrid(window, list_bin_shift), layout.partition, reinterpret_cast<Summary*>(memory + layout.partial),
             reinterpret_cast<Summary*>(memory + layout.partial) + layout.partition.blocks},
        keys(reinterpret_cast<BinKey*>(memory + layout.keys)),
        counts(reinterpret_cast<unsigned*>(memory + layout.counts)),
        lists(reinterpret_cast<BinList*>(memory + layout.lists)),
        deferred(reinterpret_cast<DeferredBins*>(memory + layout.deferred)),
        cursor(reinterpret_cast<Cursor*>(memory + layout.cursor)),
        indices(reinterpret_cast<unsigned*>(cursor + 1)),
        capacity(unsigned(layout.entries)),
        target_depth(target) {}

  // Makes room for a list, or its end. By one thread.
  __device__ BinList add_list(unsigned count, unsigned from, unsigned skipped) const {
    const Cursor begin = atomicAdd(cursor, Cursor{count - skipped});
    return {begin + count - skipped <= capacity ? unsigned(begin) : BinList::none, count, from, skipped};
  }
  // Defers the bin, and makes room for its whole list, unless there is none for its end, or it is there already. By one
  // thread of the block that draws the bin, all of whose threads have read `lists[bin]` if it is listed.
  __device__ void defer(unsigned bin, const BinList& list) const {
    if (list.listed()) lists[bin] = list.skipped ? add_list(list.count, 0, 0) : list.written();
    const unsigned number = atomicAdd(&deferred->count, 1u);
    deferred->bins[number] = bin, deferred->done[number] = 0;
  }
  // Memory that nothing else uses once all lists are written: what they have left, or that of keys and counts.
  __device__ FreeScratch free_scratch() const {
    const auto address = [](auto* at) { return reinterpret_cast<std::uintptr_t>(at); };
    const std::uintptr_t end = address(indices + capacity);
    const std::uintptr_t first = (address(indices + min(*cursor, Cursor{capacity})) + 15) / 16 * 16;
    const FreeScratch left{reinterpret_cast<void*>(first), first < end ? end - first : 0};
    const FreeScratch dead{keys, address(lists) - address(keys)};
    return left.bytes > dead.bytes ? left : dead;
  }
  // Entries to write at first of a list of `count`, in an image whose mean optical depth is `depth`: six times the mean
  // that is needed, because a bin waits for its slowest pixel, and half as many circles cover the edge of the image;
  // and 768 to find larger circles under a heap of small ones; 40 on the emulator, whose lists have some hundred. All
  // of them where that saves little.
  __device__ unsigned entries_to_write(unsigned count, float depth) const {
    if (target_depth == 0 || depth < 8 * target_depth) return count;
    return max(emulated ? 40u : 768u, unsigned(float(count) * (6 * target_depth / depth)));
  }
};

}  // namespace upsweep::ladders::render

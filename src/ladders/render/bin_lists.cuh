// Lists of the circles that reach each bin, or of only the last circles that do.
#pragma once
#include "ladders/render/bins.cuh"

namespace upsweep::ladders::render {

// log2 of a bin's side in pixels. A list has entries only for circles that reach its bin, and only the blocks of the
// bin read it, so bins are small: the 32 x 32 pixels that a block draws.
inline constexpr unsigned list_bin_shift = 5;
// Maximum number of bins per window. Checks lower it, so that small images have several windows.
inline constinit Threshold max_list_bins{"max_list_bins", BinGrid::max_bins, 32, {.min = 1, .max = BinGrid::max_bins}};

// Maximum number of list entries that a block sorts in shared memory before it writes them (bin_scatter.cuh). With
// 16384 entries and 1024 bins a block uses 55 KB, so that four blocks per multiprocessor, and thus all 512 blocks, are
// resident on an H100. The minimum holds the entries of a batch; the maximum fits in list_ends_needs.
inline constinit Threshold sorted_entries{
    "sorted_entries", 16384, 1024, {.min = BinKey::max_few * bin_threads, .max = 16384}};
// Number of batches whose entries are sorted together, if they fit. If circles reach 1.6 bins each, 40 batches fill
// sorted_entries. With 56, scatter10M's entries did not fit, and its scatter took 10 us longer on an H200. The maximum
// keeps offsets among the sorted entries within 16 bits.
inline constinit Threshold sorted_batches{
    "sorted_batches", 40, 2, {.min = 1, .max = 0xffff / (BinKey::max_few * bin_threads)}};
// Minimum number of entries in a list's end: enough to reach the larger circles under a heap of small ones.
inline constinit Threshold min_written{"min_written", 768, 40, {.max = 0xffffffff}};
// Capacity of all lists together, in entries, on top of four per circle: 16 MiB, a small part of any GPU's memory.
// Checks lower it, so that some lists do not fit.
inline constinit Threshold min_entries{"min_entries", 1 << 22, 256, {.max = 1 << 30}};
// Maximum length of a list that one block draws alone in list_parts. Several blocks share longer lists if eps allows
// it, because one block would take longer than the launch that follows in any case.
inline constinit Threshold max_undivided{"max_undivided", 16384, 500, {.max = 0xffffffff}};
inline constexpr Threshold* list_thresholds[] = {&bin_blocks,  &max_list_bins, &sorted_entries, &sorted_batches,
                                                 &min_written, &min_entries,   &max_undivided};

// Returns the shared memory of a scatter block, in bytes. It holds the offset of each bin's next list entry, and either
// - one word of bits per bin and warp, or
// - `sorted` entries (sorted_entries), each bin's start among them, and each warp's next offset within each bin.
constexpr std::size_t shared_bytes_to_scatter(std::size_t bins, std::size_t sorted) {
  return bins * sizeof(unsigned) +
         std::max(bins * bin_warps * sizeof(unsigned), ((bin_warps + 1) * bins + 2 + sorted) * sizeof(short));
}

// A bin's list: its circles in order, in entries [begin, begin + size()) of `indices`. The list may be only a suffix:
// the first `skipped` circles, binned by blocks before `from`, are omitted. If begin == none, the list did not fit.
struct BinList {
  static constexpr unsigned none = 0xffffffffu;
  unsigned begin, count, from, skipped;
  UPSWEEP_HD bool listed() const { return begin != none; }
  UPSWEEP_HD unsigned size() const { return count - skipped; }
  // Returns the same list, marked so that no block writes to it.
  UPSWEEP_HD BinList written() const { return {begin, count, none, skipped}; }
};

// Bins left to a second kernel, because they need their lists from the first circle or because their lists are long
// enough for several blocks. Per deferred bin, `done` counts the blocks that have finished.
struct DeferredBins {
  unsigned count;
  unsigned bins[BinGrid::max_bins], done[BinGrid::max_bins];
};

// Offset of the next list in the array of entries. 64 bits, because the lists may total more than 2^32 entries, though
// the array never holds that many.
using Cursor = unsigned long long;

struct FreeScratch {
  void* memory;  // aligned to 16 bytes
  std::size_t bytes;
};

// Returns the capacity of all bins' lists together, in entries: four per circle, plus min_entries.
inline std::size_t entries_for(std::size_t n) { return n < (std::size_t{1} << 29) ? min_entries + 4 * n : 0xfffffffe; }

// Lists in a call's scratch memory.
struct BinLists : Bins {
  // Offsets in scratch memory, the same for all windows of a call.
  struct Layout : ScratchLayout {
    static constexpr unsigned bin_shift = list_bin_shift;
    BlockPartition partition;
    std::size_t sorted = sorted_entries;
    std::size_t bins;  // maximum per window; 0: not even one fits
    std::size_t partial, keys, counts, lists, deferred, cursor, entries;

    // Lowers the number of bins until a scatter block fits in shared memory and, if the call limits its scratch memory,
    // until the lists fit within the limit.
    explicit Layout(const Args& a) : partition(a.n, static_cast<unsigned>(bin_blocks)) {
      bins = max_list_bins;
      while (shared_bytes_to_scatter(bins, sorted) > machine().shared_per_block) bins /= 2;
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
  float target_depth;      // optical depth that each pixel needs; 0: complete lists are written from the start
  // Thresholds that kernels read, with their values at the call.
  unsigned sorted, batches, min_end, undivided;

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
        target_depth(target),
        sorted(static_cast<unsigned>(layout.sorted)),
        batches(static_cast<unsigned>(sorted_batches)),
        min_end(static_cast<unsigned>(min_written)),
        undivided(static_cast<unsigned>(max_undivided)) {}

  // Reserves entries for a list or its end. Called by one thread.
  __device__ BinList add_list(unsigned count, unsigned from, unsigned skipped) const {
    const Cursor begin = atomicAdd(cursor, Cursor{count - skipped});
    return {begin + count - skipped <= capacity ? unsigned(begin) : BinList::none, count, from, skipped};
  }
  // Defers the bin. Reserves entries for its whole list, unless its end did not fit or the list is complete. Called by
  // one thread of the block that draws the bin, after all threads of the block have read `lists[bin]` if it is listed.
  __device__ void defer(unsigned bin, const BinList& list) const {
    if (list.listed()) lists[bin] = list.skipped ? add_list(list.count, 0, 0) : list.written();
    const unsigned number = atomicAdd(&deferred->count, 1u);
    deferred->bins[number] = bin, deferred->done[number] = 0;
  }
  // Returns memory that is free once all lists are written: the unused entries, or the arrays of keys and counts if
  // these are larger.
  __device__ FreeScratch free_scratch() const {
    const auto address = [](auto* at) { return reinterpret_cast<std::uintptr_t>(at); };
    const std::uintptr_t end = address(indices + capacity);
    const std::uintptr_t first = (address(indices + min(*cursor, Cursor{capacity})) + 15) / 16 * 16;
    const FreeScratch left{reinterpret_cast<void*>(first), first < end ? end - first : 0};
    const FreeScratch dead{keys, address(lists) - address(keys)};
    return left.bytes > dead.bytes ? left : dead;
  }
  // Returns how many of a list's `count` entries to write first, in an image of mean optical depth `depth`: six times
  // what the mean pixel needs, but at least min_written. A bin waits for its slowest pixel, and only half as many
  // circles cover a pixel at the edge of the image. Returns `count` if writing fewer entries would save little.
  __device__ unsigned entries_to_write(unsigned count, float depth) const {
    if (target_depth == 0 || depth < 8 * target_depth) return count;
    return max(min_end, unsigned(float(count) * (6 * target_depth / depth)));
  }
};

}  // namespace upsweep::ladders::render

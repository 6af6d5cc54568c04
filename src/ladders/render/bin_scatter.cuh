// Writes a block's circles into the bins' lists, in order.
#pragma once
#include "kernel/block.h"
#include "ladders/render/bin_lists.cuh"

namespace upsweep::ladders::render {

// A block that writes entries, and its shared memory.
class BinScatter {
 public:
  __device__ BinScatter(const float* circles, std::size_t n, const Frame& f, const BinLists& bins)
      : circles_(circles),
        n_(n),
        f_(f),
        bins_(bins),
        count_(bins.grid.count()),
        warp_(threadIdx.x / warp_size),
        lane_(threadIdx.x % warp_size),
        next_(dynamic_shared<unsigned>()),
        bitmap_(next_ + count_),
        offset_(reinterpret_cast<unsigned short*>(bitmap_)),
        start_(offset_ + bin_warps * count_),
        sorted_(start_ + count_ + 1) {}

  // Finds where each bin's entries of this block begin: in all lists, or later, in those of deferred bins. Returns
  // false if none are written.
  __device__ bool begin(bool later) {
    const unsigned deferred = bins_.deferred->count;
    if (later && deferred == 0) return false;
    bool any = false;
    const auto choose = [&](unsigned bin, bool taken) {
      const BinList list = bins_.lists[bin];
      taken = taken && list.listed() && blockIdx.x >= list.from;
      const unsigned before = bins_.counts[std::size_t(blockIdx.x) * count_ + bin];
      next_[bin] = taken ? list.begin + before - list.skipped : BinList::none;
      any |= taken;
    };
    for (unsigned bin = threadIdx.x; bin < count_; bin += bin_threads) choose(bin, !later);
    if (later) {
      __syncthreads();
      for (unsigned u = threadIdx.x; u < deferred; u += bin_threads) choose(bins_.deferred->bins[u], true);
    }
    return __syncthreads_or(any);
  }

  __device__ void write() {
    unsigned chunk = max_chunk;
    for (unsigned first = 0, end; first < bins_.partition.batches; first = end) {
      end = min(first + chunk, bins_.partition.batches);
      unsigned entries = sort(first, end);
      while (entries > sorted_entries && entries != unsorted) {
        chunk = (end - first) / 2, end = first + chunk;
        entries = sort(first, end);
      }
      if (entries == unsorted)
        write_by_bins(first, end);
      else
        write_sorted(first, entries);
    }
  }

 private:
  // Batches that are tried at once: 40 fill the room with circles of 1.6 bins each. A single batch always fits. With
  // 56, of which the entries of scatter10M did not fit, its scattering took 10 us more on an H200. On the emulator so
  // few that small checks come to several chunks.
  static constexpr unsigned max_chunk = emulated ? 2 : 40, unsorted = 0xffffffffu;
  static_assert(sorted_entries >= BinKey::max_few * bin_threads && max_chunk * BinKey::max_few * bin_threads <= 0xffff);

  // Sorts the entries of batches [begin, end), and returns how many they are; that alone, if there is no room for them;
  // `unsorted` if some circles have many bins. Each warp has consecutive circles. The offsets of the chunk before, or
  // its bitmap, are no longer used: there has been a barrier since.
  __device__ unsigned sort(unsigned begin, unsigned end) {
    for (unsigned w = threadIdx.x; w < count_ * bin_warps; w += bin_threads) offset_[w] = 0;
    __syncthreads();
    bool many = false;
    each_key(begin, end, [&](unsigned, BinKey key) {
      many |= key.many();
      key.each(bins_.grid.columns, [&](unsigned bin) { count_up(bin); });
    });
    if (__syncthreads_or(many)) return unsorted;
    const unsigned entries = offsets_from_counts();
    if (entries > sorted_entries) return entries;
    // The 32 circles that a warp sorts at the same time are in any order among each other until they are written.
    each_key(begin, end, [&](unsigned circle, BinKey key) {
      key.each(bins_.grid.columns, [&](unsigned bin) { sorted_[count_up(bin)] = static_cast<unsigned short>(circle); });
      __syncwarp();
    });
    __syncthreads();
    return entries;
  }
  // Increments the warp's count or offset for the bin, and returns what it was.
  __device__ unsigned count_up(unsigned bin) {
    const unsigned at = warp_ * count_ + bin, shift = at % 2 * 16;
    return atomicAdd(&reinterpret_cast<unsigned*>(offset_)[at / 2], 1u << shift) >> shift & 0xffff;
  }

  // Turns the counts of warps and bins into offsets among the entries sorted; returns how many entries there are.
  __device__ unsigned offsets_from_counts() {
    __shared__ unsigned warp_totals[warp_size];
    const unsigned per_thread = (count_ + bin_threads - 1) / bin_threads;
    const unsigned first = min(threadIdx.x * per_thread, count_), end = min(first + per_thread, count_);
    unsigned sum = 0, total;
    for (unsigned bin = first; bin < end; ++bin)
      for (unsigned w = 0; w < bin_warps; ++w) sum += offset_[w * count_ + bin];
    unsigned before = block_scan(sum, Sum{}, warp_totals, total);
    const unsigned max_entries = max_of_bin(total);
    bool any_crowded = false;
    for (unsigned bin = first; bin < end; ++bin) {
      const unsigned start = before;
      start_[bin] = static_cast<unsigned short>(before);
      unsigned counted[bin_warps];
#pragma unroll
      for (unsigned w = 0; w < bin_warps; ++w) counted[w] = offset_[w * count_ + bin];
#pragma unroll
      for (unsigned w = 0; w < bin_warps; before += counted[w], ++w)
        offset_[w * count_ + bin] = static_cast<unsigned short>(before);
      any_crowded |= before - start > max_entries;
    }
    if (threadIdx.x == 0) start_[count_] = static_cast<unsigned short>(total);
    crowded_ = __syncthreads_or(any_crowded);
    return total;
  }

  // Log2 of the lanes that write a bin: about as many as it has entries in the mean. A bin with more than max_of_bin()
  // entries is crowded: four per lane. With 16, circles sorted by x took 412 us on an H200, not 289.
  __device__ unsigned lanes_shift(unsigned entries) const {
    unsigned shift = 0;
    while (1u << shift < warp_size && count_ << shift < entries) ++shift;
    return shift;
  }
  __device__ unsigned max_of_bin(unsigned entries) const { return 4u << lanes_shift(entries); }

  // Writes the sorted entries into the lists: those of a bin together, because 4 bytes alone cost L2 as much as the
  // sector of 32. The whole block writes crowded bins afterwards, such as those of circles sorted by where they are.
  __device__ void write_sorted(unsigned batch, unsigned entries) {
    const unsigned first = unsigned(bins_.partition.first_of_block(batch));
    const unsigned shift = lanes_shift(entries), max_entries = crowded_ ? max_of_bin(entries) : entries;
    for (unsigned bin = threadIdx.x >> shift; bin < count_; bin += bin_threads >> shift) {
      const unsigned list = next_[bin], start = start_[bin], end = start_[bin + 1];
      if (list != BinList::none && end - start <= max_entries)
        write_bin(list, start, end, threadIdx.x & ((1u << shift) - 1), 1u << shift, first);
    }
    if (crowded_) write_crowded(max_entries, first);
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < count_; bin += bin_threads)
      if (next_[bin] != BinList::none) next_[bin] += start_[bin + 1] - start_[bin];
  }
  __device__ __forceinline__ void write_crowded(unsigned max_entries, unsigned first) const {
    for (unsigned b = 0; b < count_; b += warp_size) {
      const unsigned mine = b + lane_;
      const bool crowded =
          mine < count_ && next_[mine] != BinList::none && unsigned(start_[mine + 1] - start_[mine]) > max_entries;
      for (unsigned left = __ballot_sync(all_lanes, crowded); left; left &= left - 1) {
        const unsigned bin = b + lowest_bit(left);
        write_bin(next_[bin], start_[bin], start_[bin + 1], threadIdx.x, bin_threads, first);
      }
    }
  }
  // Writes a bin's entries [start, end) into the list, from `list` on: `lane` is the thread's number among the `lanes`
  // that do.
  __device__ __forceinline__ void write_bin(unsigned list, unsigned start, unsigned end, unsigned lane, unsigned lanes,
                                            unsigned first) const {
    for (unsigned k = start + lane; k < end; k += lanes) {
      const unsigned circle = sorted_[k];
      const auto together = [&](unsigned other) { return (other ^ circle) < warp_size; };
      const bool after = k > start && together(sorted_[k - 1]), before = k + 1 < end && together(sorted_[k + 1]);
      unsigned offset = k - start;
      if (after || before) {
        for (unsigned e = k; e > start && together(sorted_[e - 1]); --e) offset -= sorted_[e - 1] > circle;
        for (unsigned e = k + 1; e < end && together(sorted_[e]); ++e) offset += sorted_[e] < circle;
      }
      bins_.indices[list + offset] = first + circle;
    }
  }

  // For circles that have many bins: a bin's bitmap gets the circles of a batch that reach it, from which one thread
  // writes them in order. After sort(), which ended with a barrier.
  __device__ void write_by_bins(unsigned begin, unsigned end) {
    for (unsigned w = threadIdx.x; w < count_ * bin_warps; w += bin_threads) bitmap_[w] = 0;
    __syncthreads();
    const auto load_key = [&](std::size_t at) { return bins_.keys[at]; };
    bins_.partition.each(n_, begin, end, load_key, [&](unsigned batch, std::size_t at, BinKey key, bool there) {
      if (!there) key = {};
      Circle c{};
      Box box{};
      if (key.many()) c = load_circle(circles_, at), box = bins_.grid.axes.bounds(c.x, c.y, c.radius);
      bins_.grid.each(f_, bins_.partition.lanes, key, c, box,
                      [&](unsigned bin, unsigned owner) { atomicOr(&bitmap_[warp_ * count_ + bin], 1u << owner); });
      __syncthreads();
      const unsigned first = unsigned(bins_.partition.first_of_block(batch));
      for (unsigned bin = threadIdx.x; bin < count_; bin += bin_threads) {
        unsigned words = 0;  // bits of the warps' words that are not zero
        for (unsigned w = 0; w < bin_warps; ++w) words |= unsigned(bitmap_[w * count_ + bin] != 0) << w;
        if (words == 0) continue;
        unsigned offset = next_[bin];
        for (; words; words &= words - 1) {
          const unsigned w = lowest_bit(words);
          unsigned left = bitmap_[w * count_ + bin];
          bitmap_[w * count_ + bin] = 0;
          if (offset == BinList::none) continue;
          for (; left; left &= left - 1) bins_.indices[offset++] = first + w * bins_.partition.lanes + lowest_bit(left);
        }
        next_[bin] = offset;
      }
      __syncthreads();
    });
  }

  // Calls f(circle, key) for the warp's consecutive circles of batches [begin, end), one for each lane; `circle` counts
  // from the first of them. The key is empty if there is none.
  template <class F>
  __device__ void each_key(unsigned begin, unsigned end, F&& f) const {
    const unsigned lanes = bins_.partition.lanes, batches = end - begin, mine = warp_ * batches * lanes + lane_;
    const std::size_t at = bins_.partition.first_of_block(begin) + mine;
    const BinKey* const from = bins_.keys + at;
    unsigned there = 0;  // batches in which the lane has a circle
    if (lane_ < lanes && at < n_) there = (unsigned(min(std::size_t{batches} * lanes, n_ - at)) + lanes - 1) / lanes;
    constexpr unsigned ahead = 4;  // keys that are loaded at once
    for (unsigned b = 0; b < batches; b += ahead) {
      BinKey keys[ahead];
#pragma unroll
      for (unsigned k = 0; k < ahead; ++k)
        if (b + k < there) keys[k] = from[(b + k) * lanes];
#pragma unroll
      for (unsigned k = 0; k < ahead; ++k) f(mine + (b + k) * lanes, keys[k]);
    }
  }

  const float* const circles_;
  const std::size_t n_;
  const Frame& f_;
  const BinLists& bins_;
  const unsigned count_, warp_, lane_;
  bool crowded_ = false;          // whether a bin is, among the entries sorted
  unsigned* const next_;          // [bins]: the offset of the first entry that is not written, or none
  unsigned* const bitmap_;        // [warps][bins]: of a warp's 32 circles; in the memory of the three below
  unsigned short* const offset_;  // [warps][bins]: at first counts, then where among `sorted_` the warp's next entry is
  unsigned short* const start_;   // [bins + 1]: where the bin's entries begin among them
  unsigned short* const sorted_;  // [sorted_entries]: circles, counted from the chunk's first, by bins
};

}  // namespace upsweep::ladders::render

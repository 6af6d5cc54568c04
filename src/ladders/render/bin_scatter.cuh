// Writes a block's circles into the bins' lists, in order.
#pragma once
#include "kernel/block.h"
#include "ladders/render/bin_lists.cuh"

namespace upsweep::ladders::render {

// One block of the scatter and its shared memory.
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

  // Finds the offset of this block's entries in each bin's list, or, if `later`, in each deferred bin's list. Returns
  // false if the block has no entries to write.
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
    unsigned chunk = bins_.batches;  // a single batch always fits
    for (unsigned first = 0, end; first < bins_.partition.batches; first = end) {
      end = min(first + chunk, bins_.partition.batches);
      unsigned entries = sort(first, end);
      while (entries > bins_.sorted && entries != unsorted) {
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
  static constexpr unsigned unsorted = 0xffffffffu;

  // Sorts the entries of batches [begin, end) by bin and returns their number; only counts them if they do not fit.
  // Returns `unsorted` if a circle has many bins. Each warp takes consecutive circles. Overwrites the previous chunk's
  // offsets or bitmap, which no thread reads any more: a barrier has followed their last use.
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
    if (entries > bins_.sorted) return entries;
    // The circles that a warp sorts in one step, at most 32, are in any order within a bin; write_bin() orders them.
    each_key(begin, end, [&](unsigned circle, BinKey key) {
      key.each(bins_.grid.columns, [&](unsigned bin) { sorted_[count_up(bin)] = static_cast<unsigned short>(circle); });
      __syncwarp();
    });
    __syncthreads();
    return entries;
  }
  // Increments the warp's count or offset for the bin and returns the old value.
  __device__ unsigned count_up(unsigned bin) {
    const unsigned at = warp_ * count_ + bin, shift = at % 2 * 16;
    return atomicAdd(&reinterpret_cast<unsigned*>(offset_)[at / 2], 1u << shift) >> shift & 0xffff;
  }

  // Turns the counts per warp and bin into offsets among the sorted entries; returns the number of entries.
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

  // Returns log2 of the number of lanes that write a bin: the mean number of entries per bin, rounded up to a power of
  // two, at most 32. A bin with more than max_of_bin() entries, four per lane, is crowded. With 16 per lane, circles
  // sorted by x took 412 us on an H200 instead of 289 us.
  __device__ unsigned lanes_shift(unsigned entries) const {
    unsigned shift = 0;
    while (1u << shift < warp_size && count_ << shift < entries) ++shift;
    return shift;
  }
  __device__ unsigned max_of_bin(unsigned entries) const { return 4u << lanes_shift(entries); }

  // Writes the sorted entries to the lists, each bin's together, because a single 4-byte write costs L2 as much as a
  // 32-byte sector. Afterwards the whole block writes the crowded bins, which occur if circles are sorted by position.
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
  // Writes the sorted entries [start, end) of a bin to its list, at offset `list`. `lane` is the thread's index among
  // the `lanes` threads that write the bin.
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

  // Writes batches in which a circle has many bins: each bin's bitmap collects the circles of a batch that reach the
  // bin, and one thread per bin writes their indices in order. Called after sort(), which ended with a barrier.
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
        unsigned words = 0;  // bit w: warp w's word is not zero
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

  // Calls f(circle, key) for the warp's consecutive circles in batches [begin, end), one per lane. `circle` is relative
  // to the block's first circle in batch `begin`. The key is empty if the lane has no circle.
  template <class F>
  __device__ void each_key(unsigned begin, unsigned end, F&& f) const {
    const unsigned lanes = bins_.partition.lanes, batches = end - begin, mine = warp_ * batches * lanes + lane_;
    const std::size_t at = bins_.partition.first_of_block(begin) + mine;
    const BinKey* const from = bins_.keys + at;
    unsigned there = 0;  // batches in which the lane has a circle
    if (lane_ < lanes && at < n_) there = (unsigned(min(std::size_t{batches} * lanes, n_ - at)) + lanes - 1) / lanes;
    constexpr unsigned ahead = 4;  // key loads in flight per lane
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
  bool crowded_ = false;          // whether any bin of the chunk is crowded
  unsigned* const next_;          // [bins]: offset of the next entry to write, or none
  unsigned* const bitmap_;        // [warps][bins]: a bit per circle of the warp; shares memory with the arrays below
  unsigned short* const offset_;  // [warps][bins]: first counts, then the offset in sorted_ of the warp's next entry
  unsigned short* const start_;   // [bins + 1]: offset in sorted_ of the bin's entries
  unsigned short* const sorted_;  // [bins.sorted]: circles, relative to the chunk's first, grouped by bin
};

}  // namespace upsweep::ladders::render

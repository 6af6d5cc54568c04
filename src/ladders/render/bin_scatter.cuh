// How a block writes its circles' entries into the bins' lists, in order.
#pragma once
#include "kernel/block.h"
#include "ladders/render/bin_lists.cuh"

namespace upsweep::ladders::render {

// A block that writes entries, and its shared memory.
class BinScatter {
 public:
  __device__ BinScatter(const float* circles, std::size_t n, const Frame& f, const BinnedCircles& bins)
      : circles_(circles),
        n_(n),
        f_(f),
        bins_(bins),
        count_(bins.grid.count()),
        warp_(threadIdx.x / warp_size),
        lane_(threadIdx.x % warp_size),
        next_(dynamic_shared<unsigned>()),
        bitmap_(next_ + count_),
        before_(reinterpret_cast<unsigned short*>(bitmap_ + bin_warps * count_)) {}

  // Where each bin's entries of this block begin: of those taken at first, or of the others. False if none are written.
  __device__ bool begin(bool later) {
    const unsigned unfinished = bins_.unfinished->count;
    if (later && unfinished == 0) return false;
    bool any = false;
    const auto choose = [&](unsigned bin, bool taken) {
      const BinList list = bins_.lists[bin];
      taken = taken && list.listed() && (blockIdx.x >= list.from) != later;
      next_[bin] = taken ? list.begin + bins_.counts[std::size_t(blockIdx.x) * count_ + bin] : BinList::none;
      any |= taken;
    };
    for (unsigned bin = threadIdx.x; bin < count_; bin += bin_threads) choose(bin, !later);
    if (later) {
      __syncthreads();
      for (unsigned u = threadIdx.x; u < unfinished; u += bin_threads) choose(bins_.unfinished->bins[u], true);
    }
    return __syncthreads_or(any);
  }

  __device__ void write() {
    clear();
    bool many = bins_.shares.batches * bins_.shares.lanes * bin_warps > 0xffff;  // for before_
    each_key([&](std::size_t, BinKey key) {
      many |= key.many();
      each_cell(key, [&](unsigned, unsigned bin) {
        const unsigned at = warp_ * count_ + bin;
        atomicAdd(&reinterpret_cast<unsigned*>(before_)[at / 2], 1u << at % 2 * 16);
      });
    });
    if (__syncthreads_or(many))
      write_by_bins();
    else
      write_by_circles();
  }

 private:
  // Where circles have few bins: each warp writes consecutive circles, 32 at once, each lane its own. Its rank in a bin
  // is the number of the block's circles before.
  __device__ void write_by_circles() {
    for (unsigned bin = threadIdx.x; bin < count_; bin += bin_threads)
      for (unsigned w = 0, sum = 0; w < bin_warps; ++w) {
        unsigned short& before = before_[w * count_ + bin];
        const unsigned counted = before;
        before = static_cast<unsigned short>(sum);
        sum += counted;
      }
    __syncthreads();
    each_key([&](std::size_t place, BinKey key) {
      each_cell(key, [&](unsigned, unsigned bin) { atomicOr(&bitmap_[warp_ * count_ + bin], 1u << lane_); });
      __syncwarp();
      unsigned after[BinKey::few];  // where the warp goes on, if this is its last circle of the bin; otherwise 0
      each_cell(key, [&](unsigned cell, unsigned bin) {
        const unsigned bits = bitmap_[warp_ * count_ + bin];
        const unsigned rank = before_[warp_ * count_ + bin] + unsigned(__popc(bits & ((1u << lane_) - 1)));
        if (next_[bin] != BinList::none) bins_.indices[next_[bin] + rank] = unsigned(place);
        after[cell] = bits >> lane_ == 1 ? rank + 1 : 0;
      });
      __syncwarp();
      each_cell(key, [&](unsigned cell, unsigned bin) {
        if (after[cell] == 0) return;
        bitmap_[warp_ * count_ + bin] = 0;
        before_[warp_ * count_ + bin] = static_cast<unsigned short>(after[cell]);
      });
      __syncwarp();
    });
  }

  // Otherwise a bin's bitmap gets the circles of a batch that reach it, from which one thread writes them in order.
  __device__ void write_by_bins() {
    const auto load_key = [&](std::size_t at) { return bins_.keys[at]; };
    bins_.shares.each(n_, load_key, [&](unsigned batch, BinKey key, bool there) {
      if (!there) key = {};
      Circle c{};
      Box box{};
      if (key.many()) c = load_circle(circles_, bins_.shares.place(batch)), box = bounds_of(f_, c.x, c.y, c.radius);
      bins_.grid.each(f_, bins_.shares.lanes, key, c, box,
                      [&](unsigned bin, unsigned owner) { atomicOr(&bitmap_[warp_ * count_ + bin], 1u << owner); });
      __syncthreads();
      const unsigned first = unsigned(bins_.shares.first_of_block(batch));
      for (unsigned bin = threadIdx.x; bin < count_; bin += bin_threads) {
        unsigned words = 0;  // that are not zero
        for (unsigned w = 0; w < bin_warps; ++w) words |= unsigned(bitmap_[w * count_ + bin] != 0) << w;
        if (words == 0) continue;
        unsigned place = next_[bin];
        for (; words; words &= words - 1) {
          const unsigned w = unsigned(__ffs(int(words))) - 1;
          unsigned left = bitmap_[w * count_ + bin];
          bitmap_[w * count_ + bin] = 0;
          if (place == BinList::none) continue;
          for (; left; left &= left - 1)
            bins_.indices[place++] = first + w * bins_.shares.lanes + unsigned(__ffs(int(left))) - 1;
        }
        next_[bin] = place;
      }
      __syncthreads();
    });
  }

  __device__ void clear() {
    for (unsigned w = threadIdx.x; w < count_ * bin_warps; w += bin_threads) bitmap_[w] = 0, before_[w] = 0;
    __syncthreads();
  }
  // Calls f(place, key) for the warp's consecutive circles, one for each lane; an empty key where there is none.
  template <class F>
  __device__ void each_key(F&& f) const {
    const Shares& shares = bins_.shares;
    const std::size_t first = shares.first_of_block(0) + std::size_t(warp_) * shares.batches * shares.lanes + lane_;
    constexpr unsigned ahead = 4;  // keys that are loaded at once
    for (unsigned b = 0; b < shares.batches; b += ahead) {
      BinKey keys[ahead];
#pragma unroll
      for (unsigned k = 0; k < ahead; ++k) {
        const std::size_t place = first + std::size_t(b + k) * shares.lanes;
        if (b + k < shares.batches && lane_ < shares.lanes && place < n_) keys[k] = bins_.keys[place];
      }
#pragma unroll
      for (unsigned k = 0; k < ahead; ++k) f(first + std::size_t(b + k) * shares.lanes, keys[k]);
    }
  }
  template <class F>
  __device__ void each_cell(BinKey key, F&& f) const {
#pragma unroll
    for (unsigned cell = 0; cell < BinKey::few; ++cell)
      if (cell < key.cells()) f(cell, key.bin(cell, bins_.grid.columns));
  }

  const float* const circles_;
  const std::size_t n_;
  const Frame& f_;
  const BinnedCircles& bins_;
  const unsigned count_, warp_, lane_;
  unsigned* const next_;          // [bins]: the place of the first entry that is not written, or none
  unsigned* const bitmap_;        // [warps][bins]: of a warp's 32 circles
  unsigned short* const before_;  // [warps][bins]: how many of the block's entries are before the warp's next
};

}  // namespace upsweep::ladders::render

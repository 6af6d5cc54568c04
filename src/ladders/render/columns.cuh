// How a block that draws finds its bin's circles in a column of bits.
#pragma once
#include "ladders/render/bins.cuh"
#include "ladders/render/patch.cuh"

namespace upsweep::ladders::render {

// Exclusive sum over the block's warps of what lane 31 of each passes; `all` becomes that of the block. As scan_warps,
// in fewer instructions. A later call may reuse `warp_totals` after a __syncthreads().
__device__ __forceinline__ unsigned sum_of_warps(unsigned of_warp,
                                                 unsigned* warp_totals,  // [32], shared
                                                 unsigned& all) {
  const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  if (lane == warp_size - 1) warp_totals[warp] = of_warp;
  __syncthreads();
  const unsigned of_lane = lane < patch_threads / warp_size ? warp_totals[lane] : 0;
  all = warp_reduce(of_lane, Sum{});
  return warp_reduce(lane < warp ? of_lane : 0, Sum{});
}

// Part of a bin's column, a few words in each thread. For all threads of a block.
class Column {
 public:
  static constexpr unsigned most_each = 8;
  __device__ Column(const unsigned* words, unsigned first, unsigned count)
      : each_((count + patch_threads - 1) / patch_threads), first_(first + threadIdx.x * each_) {
#pragma unroll
    for (unsigned k = 0; k < most_each; ++k)
      if (k < each_ && first_ + k < first + count) bits_[k] = words[first_ + k];
  }

  // Calls put(place, circle) for its circles, in order, and returns how many there are. Has a barrier.
  template <class Put>
  __device__ unsigned each(unsigned* warp_totals,  // [32], shared
                           Put&& put) const {
    unsigned sum = 0, all;
#pragma unroll
    for (const unsigned word : bits_) sum += unsigned(__popc(word));
    const unsigned upto = warp_scan(sum, Sum{});
    unsigned place = sum_of_warps(upto, warp_totals, all) + upto - sum;
    if (sum == 0) return all;
#pragma unroll
    for (unsigned k = 0; k < most_each; ++k)
      for (unsigned left = bits_[k]; left; left &= left - 1, ++place)
        put(place, (first_ + k) * warp_size + unsigned(__ffs(int(left))) - 1);
    return all;
  }

 private:
  const unsigned each_, first_;
  unsigned bits_[most_each]{};
};

// A bin's column from its end, a word in each thread at a time. For all threads of a block.
class ColumnEnd {
 public:
  __device__ ColumnEnd(const BinnedCircles& bins, unsigned bin)
      : words_(bins.column(bin)), left_(bins.shares.column()), word_(load()) {}
  bool __device__ empty() const { return left_ == 0; }

  // Puts the next circles, the last one first, where there is room for as many as threads. Returns how many they are, 0
  // only if there are no more. Ends with a barrier.
  __device__ unsigned next(unsigned* circles,      // [threads], shared
                           unsigned* warp_totals)  // [32], shared
  {
    __shared__ unsigned taken, found;
    for (unsigned all = 0; left_ > 0;) {
      const unsigned word = fetched_ ? load() : word_, sum = unsigned(__popc(word)), upto = warp_scan(sum, Sum{});
      fetched_ = true;
      unsigned place = sum_of_warps(upto, warp_totals, all) + upto - sum;
      if (place + sum <= patch_threads) {
        const unsigned first = (left_ - 1 - threadIdx.x) * warp_size;
        for (unsigned bits = word; bits; ++place) {
          const unsigned bit = warp_size - 1 - unsigned(__clz(int(bits)));
          bits ^= 1u << bit;
          circles[place] = first + bit;
        }
      } else if (place <= patch_threads) {  // the first word that finds no room
        taken = threadIdx.x, found = place;
      }
      __syncthreads();
      if (all > patch_threads) {
        left_ -= taken;
        return found;
      }
      left_ -= min(left_, patch_threads);
      if (all > 0) return all;
    }
    return 0;
  }

 private:
  __device__ unsigned load() const { return threadIdx.x < left_ ? words_[left_ - 1 - threadIdx.x] : 0; }
  const unsigned* const words_;
  unsigned left_;         // words that are not taken yet
  const unsigned word_;   // the thread's, of the first that are taken
  bool fetched_ = false;  // no more than that
};

}  // namespace upsweep::ladders::render

// How a block that draws finds its bin's circles in a column of bits.
#pragma once
#include "ladders/render/bins.cuh"
#include "ladders/render/patch.cuh"

namespace upsweep::ladders::render {

// Exclusive sum over the block's warps of what lane 31 of each passes; `all` becomes that of the block. As scan_warps,
// in fewer instructions. A later call may reuse `warp_totals` after a __syncthreads().
template <unsigned threads>
__device__ __forceinline__ unsigned sum_of_warps(unsigned of_warp,
                                                 unsigned* warp_totals,  // [32], shared
                                                 unsigned& all) {
  const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  if (lane == warp_size - 1) warp_totals[warp] = of_warp;
  __syncthreads();
  const unsigned of_lane = lane < threads / warp_size ? warp_totals[lane] : 0;
  all = warp_reduce(of_lane, Sum{});
  return warp_reduce(lane < warp ? of_lane : 0, Sum{});
}

// Part of a bin's column, a few words in each thread. For all threads of a block.
template <unsigned threads>
class Column {
 public:
  static constexpr unsigned most_each = 8;
  __device__ Column(const unsigned* words, unsigned first, unsigned count)
      : each_((count + threads - 1) / threads), first_(first + threadIdx.x * each_) {
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
    unsigned place = sum_of_warps<threads>(upto, warp_totals, all) + upto - sum;
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

// A bin's column from its end, `each` words in each thread at a time. For all threads of a block.
template <unsigned threads, unsigned each>
class ColumnEnd {
 public:
  static constexpr unsigned most = threads * each;  // circles that are found at once
  __device__ ColumnEnd(const BinnedCircles& bins, unsigned bin)
      : words_(bins.column(bin)), left_(bins.shares.column()) {
    load(bits_);
  }
  bool __device__ empty() const { return left_ == 0; }

  // Puts the next circles, the last one first. Returns how many they are, 0 only if there are no more. Ends with a
  // barrier.
  __device__ unsigned next(unsigned* circles,      // [most], shared
                           unsigned* warp_totals)  // [32], shared
  {
    __shared__ unsigned taken, found;
    while (left_ > 0) {
      if (again_) load(bits_);
      again_ = true;
      unsigned sum = 0, all;
#pragma unroll
      for (const unsigned word : bits_) sum += unsigned(__popc(word));
      const unsigned upto = warp_scan(sum, Sum{});
      unsigned place = sum_of_warps<threads>(upto, warp_totals, all) + upto - sum;
      if (place + sum <= most) {
#pragma unroll
        for (unsigned k = 0; k < each; ++k) {
          const unsigned first = (left_ - 1 - threadIdx.x * each - k) * warp_size;
          for (unsigned bits = bits_[k]; bits; ++place) {
            const unsigned bit = warp_size - 1 - unsigned(__clz(int(bits)));
            bits ^= 1u << bit;
            circles[place] = first + bit;
          }
        }
      } else if (place <= most) {  // the first thread whose circles find no room
        taken = threadIdx.x * each, found = place;
      }
      __syncthreads();
      if (all > most) {
        left_ -= taken;
        return found;
      }
      left_ -= min(left_, threads * each);
      if (all > 0) return all;
    }
    return 0;
  }

 private:
  // The thread's words among the last that are not taken, in falling order.
  __device__ void load(unsigned (&bits)[each]) const {
#pragma unroll
    for (unsigned k = 0; k < each; ++k) {
      const unsigned at = threadIdx.x * each + k;
      bits[k] = at < left_ ? words_[left_ - 1 - at] : 0;
    }
  }
  const unsigned* const words_;
  unsigned left_;  // words that are not taken yet
  unsigned bits_[each];
  bool again_ = false;  // bits_ are of words that are taken
};

}  // namespace upsweep::ladders::render

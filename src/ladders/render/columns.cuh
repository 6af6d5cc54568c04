// How a block that draws finds its bin's circles in a column of bits.
#pragma once
#include "ladders/render/bins.cuh"
#include "ladders/render/patch.cuh"

namespace upsweep::ladders::render {

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
        put(place, (first_ + k) * warp_size + lowest_bit(left));
    return all;
  }

 private:
  const unsigned each_, first_;
  unsigned bits_[most_each]{};
};

// A bin's column from its end, some words in each thread at a time, the more the fewer circles they have. For all
// threads of a block. `most`: circles that are found at once.
template <unsigned threads, unsigned most>
class ColumnEnd {
 public:
  __device__ ColumnEnd(const unsigned* words, unsigned count) : words_(words), left_(count) { load_first(); }
  bool __device__ empty() const { return left_ == 0; }

  // Puts the next circles, the last one first. Returns how many they are, 0 only if there are no more. Ends with a
  // barrier.
  __device__ unsigned next(unsigned* circles,      // [most], shared
                           unsigned* warp_totals)  // [32], shared
  {
    __shared__ unsigned taken, found;
    while (left_ > 0) {
      if (again_) load_first();
      again_ = true;
      const unsigned each = each_;
      unsigned sum = 0, all;
      each_word([&](unsigned, unsigned bits) { sum += unsigned(__popc(bits)); });
      const unsigned upto = warp_scan(sum, Sum{});
      unsigned place = sum_of_warps<threads>(upto, warp_totals, all) + upto - sum;
      if (place + sum <= most) {
        each_word([&](unsigned k, unsigned bits) {
          const unsigned first = (left_ - 1 - threadIdx.x * each - k) * warp_size;
          for (; bits; ++place) {
            const unsigned bit = highest_bit(bits);
            bits ^= 1u << bit;
            circles[place] = first + bit;
          }
        });
      } else if (place <= most) {  // the first thread whose circles find no room
        taken = threadIdx.x * each, found = place;
      }
      __syncthreads();
      if (all > most) {
        left_ -= taken;
        return found;
      }
      left_ -= min(left_, threads * each);
      if (all < most / 2 && each < most / warp_size) each_ = 2 * each;  // those of a thread find room
      if (all > 0) return all;
    }
    return 0;
  }

 private:
  static constexpr unsigned at_first = most / threads;
  // The thread's words among the last that are not taken, in falling order.
  __device__ unsigned load(unsigned k) const {
    const unsigned at = threadIdx.x * each_ + k;
    return at < left_ ? words_[left_ - 1 - at] : 0;
  }
  __device__ void load_first() {
#pragma unroll
    for (unsigned k = 0; k < at_first; ++k) first_[k] = load(k);
  }
  // Calls f(k, word) for the thread's words.
  template <class F>
  __device__ __forceinline__ void each_word(F&& f) const {
#pragma unroll
    for (unsigned k = 0; k < at_first; ++k) f(k, first_[k]);
    for (unsigned k = at_first; k < each_; ++k) f(k, load(k));
  }

  const unsigned* const words_;
  unsigned left_;             // words that are not taken yet
  unsigned each_ = at_first;  // of a thread
  unsigned first_[at_first];  // the first of them
  bool again_ = false;        // those are of words that are taken
};

}  // namespace upsweep::ladders::render

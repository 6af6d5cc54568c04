// Exact float sums at memory speed. A warp adds elements without rounding while their exponents lie in one window; rare
// outliers are added to the fixed-point accumulator one by one.
//
// All elements in a window are multiples of one quantum and below one bound. So a batch of floats can be added exactly
// in a double (24 exponents below the bound + 24 bits + 5 carry bits for 32 elements = 53), and a batch of doubles in
// two doubles, after each element is split. The batch's total becomes a 64-bit count of quanta; all further arithmetic
// is on integers.
#pragma once
#include "kernel/vector.h"
#include "kernel/warp.h"
#include "ladders/reduce/exact.h"

namespace upsweep::ladders::reduce {

// An ExactSum in shared memory, updated with atomics. Deposits are rare, so they are not inlined.
template <class T>
struct SharedExactSum {
  unsigned long long limb[ExactSum<T>::limbs];  // two's complement
  unsigned flags;

  // Called by each of `threads` threads with its index.
  __device__ void clear(unsigned thread, unsigned threads) {
    for (unsigned k = thread; k < ExactSum<T>::limbs; k += threads) limb[k] = 0;
    if (thread == 0) flags = 0;
  }
  // Adds count * 2^(position + lowest).
  __device__ __noinline__ void deposit(long long count, int position) {
    const bool negative = count < 0;
    ExactSum<T>::for_digits(negative, negative ? 0ull - count : count, position, [&](int k, std::int64_t digit) {
      atomicAdd(&limb[k], static_cast<unsigned long long>(digit));
    });
  }
  __device__ __noinline__ void deposit(T x) {
    const unsigned seen = ExactSum<T>::for_digits(
        x, [&](int k, std::int64_t digit) { atomicAdd(&limb[k], static_cast<unsigned long long>(digit)); });
    if (seen) atomicOr(&flags, seen);
  }
  // Deposits an element that bypasses the windows. Sets saw_other if the element is not -0, as ExactWindow does for
  // the elements that it adds.
  __device__ void deposit_end(T x) {
    deposit(x);
    if (ExactSum<T>::zero_flags(x) & ExactSum<T>::saw_other) atomicOr(&flags, ExactSum<T>::saw_other);
  }
};

// The constants of ExactWindow per format. key(x) orders magnitudes as unsigned integers, exponent first; only zero has
// key 0.
template <class T>
struct WindowFormat;
template <>
struct WindowFormat<float> {
  static constexpr int batch = 32, span = 24, mantissa = 23, bias = 127;
  static constexpr unsigned infinity = 0x7f800000u;
  // At the lowest bound, the quantum is the smallest subnormal; at the highest, no finite float is above the window.
  static constexpr int lowest_bound = -149 + span + mantissa, highest_bound = 127;
  __device__ static unsigned key(float x) { return __float_as_uint(x) & 0x7fffffffu; }
  __device__ static bool has_sign(float x) { return __float_as_int(x) < 0; }
};
template <>
struct WindowFormat<double> {
  static constexpr int batch = 16, span = 23, mantissa = 52, bias = 1023;
  static constexpr unsigned infinity = 0x7ff00000u;
  // These limits keep the constants for splitting and scaling finite; elements outside are deposited one by one.
  static constexpr int lowest_bound = -900, highest_bound = 995;
  __device__ static unsigned key(double x) {
    const auto bits = static_cast<unsigned long long>(__double_as_longlong(x));
    return (static_cast<unsigned>(bits >> 32) & 0x7fffffffu) | (static_cast<unsigned>(bits) != 0);
  }
  __device__ static bool has_sign(double x) { return __double_as_longlong(x) < 0; }
};

// One warp's window, and the exact sums of the elements inside. The whole warp calls every member function.
template <class T>
class ExactWindow {
  using Format = WindowFormat<T>;

 public:
  static constexpr int batch = Format::batch;
  __device__ explicit ExactWindow(SharedExactSum<T>& rest) : rest_(rest) {}

  static constexpr int packs = batch / Pack<T>::size;

  // Adds each lane's next batch, the 16-byte packs load(0) ... load(packs - 1). If an element is outside the window,
  // all packs are loaded again: passing them to the slow path would spill them to local memory in every batch.
  template <class Load>
  __device__ __forceinline__ void add(const Load& load) {
    T x[batch];
#pragma unroll
    for (int k = 0; k < packs; ++k) {
      const Pack<T> pack = load(k);
      memcpy(x + k * Pack<T>::size, &pack, sizeof pack);
    }
    unsigned high = 0, low = ~0u;
#pragma unroll
    for (int k = 0; k < batch; ++k) {
      const unsigned key = Format::key(x[k]);
      high = max(high, key);
      low = min(low, key - 1);  // zero wraps to the maximum, which fits any window
    }
    if (!saw_other_) saw_other_ = high > 0 || !all_have_sign(x);
    if (__any_sync(all_lanes, high >= top_ || low < bottom_)) {
      high = warp_reduce_all(high, Max{});
      if (high < Format::infinity) move_up(high);
      if (__any_sync(all_lanes, high >= top_ || low < bottom_)) return add_with_outliers(load);
    }
    add_inside(x);
  }

  // Adds the remaining counts to the shared accumulator, and sets saw_other if any element was not -0.
  __device__ __forceinline__ void flush() {
    if (__any_sync(all_lanes, saw_other_) && threadIdx.x % warp_size == 0)
      atomicOr(&rest_.flags, ExactSum<T>::saw_other);
    flush(sum_, bound_ - Format::span - Format::mantissa);
    sum_ = 0;
    if constexpr (sizeof(T) == 8) {
      flush(upper_, bound_ - 25);
      upper_ = 0;
    }
    batches_ = 0;
  }

 private:
  template <int Count>
  static __device__ bool all_have_sign(const T (&x)[Count]) {
    bool all = true;
#pragma unroll
    for (int k = 0; k < Count; ++k) all = all && Format::has_sign(x[k]);
    return all;
  }

  // Adds at most a batch of elements, |x| < 2^(bound + 1), all multiples of 2^(bound - span - mantissa).
  template <int Count>
  __device__ __forceinline__ void add_inside(const T (&x)[Count]) {
    if constexpr (sizeof(T) == 4) {
      double part[4] = {};  // four chains hide the latency of a double add; any order is exact
#pragma unroll
      for (int k = 0; k < Count; ++k) part[k % 4] += static_cast<double>(x[k]);
      sum_ += static_cast<long long>(((part[0] + part[1]) + (part[2] + part[3])) * scale_);
    } else {
      // Adding and subtracting 1.5 * 2^(bound + 27) rounds x to a multiple of 2^(bound - 25); the remainder is exact
      // too.
      double upper[2] = {}, lower[2] = {};
#pragma unroll
      for (int k = 0; k < Count; ++k) {
        const double cut = (x[k] + cutter_) - cutter_;
        upper[k % 2] += cut;
        lower[k % 2] += x[k] - cut;
      }
      upper_ += static_cast<long long>((upper[0] + upper[1]) * upper_scale_);
      sum_ += static_cast<long long>((lower[0] + lower[1]) * scale_);
    }
    // A batch adds at most 2^53, so 2^9 batches stay within 2^62.
    if (++batches_ == 512) flush();
  }

  // Moves the window up if `largest`, the key of a magnitude, is above it and the window is not at its highest bound.
  __device__ __forceinline__ void move_up(unsigned largest) {
    if (largest < top_ || bound_ >= Format::highest_bound) return;
    flush();
    place(largest);
  }

  // Adds a batch in which some lane has an element outside the window.
  template <class Load>
  __device__ __forceinline__ void add_with_outliers(const Load& load) {
    unsigned largest = 0;  // key of the largest finite magnitude
#pragma unroll 1
    for (int k = 0; k < packs; ++k) {
      const Pack<T> pack = load(k);
      for (const T x : pack.item)
        if (const unsigned key = Format::key(x); key < Format::infinity) largest = max(largest, key);
    }
    move_up(warp_reduce_all(largest, Max{}));
#pragma unroll 1
    for (int k = 0; k < packs; ++k) {
      const Pack<T> pack = load(k);
      T inside[Pack<T>::size] = {};
      for (unsigned j = 0; j < Pack<T>::size; ++j) {
        const T x = pack.item[j];
        const unsigned key = Format::key(x);
        if (key < top_ && key - 1 >= bottom_)
          inside[j] = x;
        else
          rest_.deposit(x);
      }
      add_inside(inside);
    }
  }

  // Places the window: its bound is one exponent above that of the key `largest`.
  __device__ __forceinline__ void place(unsigned largest) {
    constexpr int exponent_shift = Format::mantissa % 32;  // in the key: 23 for float, 20 for double
    bound_ = static_cast<int>(largest >> exponent_shift) - Format::bias + 1;
    bound_ = max(Format::lowest_bound, min(Format::highest_bound, bound_));
    const int top = bound_ + 1 + Format::bias, bottom = bound_ - Format::span + Format::bias;
    top_ = min(static_cast<unsigned>(top) << exponent_shift, Format::infinity);
    // Minus one, because add() compares key - 1. At the lowest bound of float, subnormals are inside too.
    bottom_ = bottom <= 1 ? 0 : (static_cast<unsigned>(bottom) << exponent_shift) - 1;
    scale_ = power_of_two(-(bound_ - Format::span - Format::mantissa));
    if constexpr (sizeof(T) == 8) {
      cutter_ = 1.5 * power_of_two(bound_ + 27);
      upper_scale_ = power_of_two(-(bound_ - 25));
    }
  }

  __device__ static double power_of_two(int exponent) {
    return __longlong_as_double(static_cast<long long>(exponent + 1023) << 52);
  }

  // Deposits the sum over the lanes of count * 2^exponent. Counts are split into low and high 32 bits, so that the sum
  // of 32 lanes cannot overflow.
  __device__ __forceinline__ void flush(long long count, int exponent) {
    const long long low = warp_reduce(count & 0xffffffffll, Sum{});
    const long long high = warp_reduce(count >> 32, Sum{});
    if (threadIdx.x % warp_size != 0) return;
    const int position = exponent - ExactSum<T>::lowest;
    if (low) rest_.deposit(low, position);
    if (high) rest_.deposit(high, position + 32);
  }

  SharedExactSum<T>& rest_;
  unsigned top_ = 0, bottom_ = 0;  // a key is inside if bottom_ <= key - 1 and key < top_; initially none is
  int bound_ = Format::lowest_bound;
  int batches_ = 0;
  bool saw_other_ = false;         // this lane has seen an element other than -0
  long long sum_ = 0, upper_ = 0;  // in quanta; upper_, only for double, in units of 2^(bound - 25)
  double scale_ = 1, upper_scale_ = 1, cutter_ = 0;
};

}  // namespace upsweep::ladders::reduce

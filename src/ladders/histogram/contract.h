// histogram: out[0][c * bins + k] = the number of samples of channel c in bin k; out[1] = the number of samples in no
// bin, one u64.
//
//   even    bin k has the k-th of `bins` equal parts of [lower, upper): floor((x - lower) * bins / (upper - lower)),
//           exact for integers; for floats (x - lower) * (bins / (upper - lower)), rounded three times, and at most
//           bins - 1
//   edges   bin k has edges[k] <= x < edges[k + 1]; in[1] holds bins + 1 ascending edges of the samples' type
//   direct  bin k has the samples equal to k
//
// in[0] holds rows of `width` samples, the first ones of two rows `pitch` samples apart; width 0: one row of all
// samples. Sample j of a row belongs to channel j % channels. out[0] holds channels * bins counters: u32 or u64, or u8
// or u16, which saturate: they stop at their largest value. A NaN is in no bin.
#pragma once
#include <bit>
#include <cstdint>
#include <limits>

#include "base/implementation.h"
#include "base/unsigned_as.h"
#include "upsweep/operations.h"

namespace upsweep::ladders::histogram {

// ---- samples --------------------------------------------------------------------------------------------------------

template <class T>
struct Samples {
  const T* data;
  std::size_t count;         // without the gaps between rows
  std::size_t width, pitch;  // of one row: width == count
  unsigned channels;

  UPSWEEP_HD T operator[](std::size_t i) const { return data[width == count ? i : i / width * pitch + i % width]; }
  UPSWEEP_HD unsigned channel(std::size_t i) const {
    return channels == 1 ? 0 : static_cast<unsigned>(i % width % channels);
  }
};

// Splits the samples into parts of at most `most`, a multiple of the channels: whole rows, or a piece of one row. Calls
// f(part) for each until one fails.
template <class T, class F>
Status for_each_part(const Samples<T>& s, std::size_t most, F&& f) {
  if (s.count == 0) return {};
  const std::size_t rows = s.width < most ? most / s.width : 1;
  for (std::size_t row = 0; row * s.width < s.count; row += rows) {
    const std::size_t left = s.count - row * s.width, all = left < rows * s.width ? left : rows * s.width;
    const std::size_t at_once = rows > 1 ? all : most;
    for (std::size_t from = 0; from < all; from += at_once) {
      const std::size_t count = all - from < at_once ? all - from : at_once;
      const std::size_t width = rows > 1 && count > s.width ? s.width : count;
      if (Status failed = f(Samples<T>{s.data + row * s.pitch + from, count, width, s.pitch, s.channels}); !failed)
        return failed;
    }
  }
  return {};
}

// The samples in an array of n elements.
constexpr std::size_t samples_in(std::size_t n, std::size_t width, std::size_t pitch) {
  if (width == 0 || n == 0) return n;
  const std::size_t last = n % pitch;
  return n / pitch * width + (last < width ? last : width);
}

// ---- bins -----------------------------------------------------------------------------------------------------------

template <Binning b>
struct By {
  static constexpr Binning binning = b;
};

// Maps a sample to its bin, or to `count` if it is in none. Plain data, passed to kernels by value.
template <class T, class O>
struct Bins;

// floor(distance * count / width) for distances below width <= 2^32 and counts up to 2^20, without dividing: as
// distance * factor >> shift, where factor = count * 2^shift / width, rounded up. That is too much by less than
// distance / 2^shift, and so by less than 1 / width if 2^shift >= width^2: not enough to reach the next whole number.
// Granlund, Montgomery, Division by Invariant Integers using Multiplication, 1994.
struct Scale {
  std::uint64_t width;
  std::uint64_t factor;     // below 2^54
  unsigned shift_after_32;  // shift - 32, from 0 to 32
  int as_shift;             // the right shift of the distance, 0 to 31, that does the same; -1 if none does

  Scale(std::uint64_t count, std::uint64_t all) : width(all) {
    const unsigned shift = 2 * static_cast<unsigned>(std::bit_width(width - 1));
    shift_after_32 = shift > 32 ? shift - 32 : 0;
    __extension__ using Wide = unsigned __int128;
    factor = static_cast<std::uint64_t>(((Wide{count} << (shift_after_32 + 32)) + width - 1) / width);
    const int one = static_cast<int>(shift_after_32) + 32 - std::countr_zero(factor);
    as_shift = std::has_single_bit(factor) && one >= 0 && one < 32 ? one : -1;
  }
  UPSWEEP_HD unsigned operator()(std::uint32_t distance) const {
    const std::uint64_t high = distance * (factor >> 32), low = distance * (factor & 0xffffffffu);
    return static_cast<unsigned>((high + (low >> 32)) >> shift_after_32);
  }
};

template <class T>
requires std::is_integral_v<T>
struct Bins<T, By<Binning::even>> {
  std::uint32_t first, last;  // the least value of T in the range, and the greatest less the least; modulo 2^32
  std::uint32_t skipped;      // the least value of T in the range less the lower bound
  Scale scale;
  unsigned count;
  UPSWEEP_HD unsigned operator()(T x) const {
    const std::uint32_t distance = static_cast<std::uint32_t>(x) - first;  // wraps below `first`, and is then large
    return distance <= last ? scale(distance + skipped) : count;
  }
};

// Truncates and clamps to the range of unsigned; NaN becomes 0.
UPSWEEP_HD inline unsigned truncated(float x) {
#if defined(__CUDA_ARCH__)
  return __float2uint_rz(x);  // one instruction
#else
  return x >= 0x1p32f ? ~0u : x > 0 ? static_cast<unsigned>(x) : 0;
#endif
}

template <class T>
requires std::is_floating_point_v<T>
struct Bins<T, By<Binning::even>> {
  T lower, upper, scale;
  unsigned count;
  UPSWEEP_HD unsigned operator()(T x) const {
    const T place = (x - lower) * scale;
    const bool inside = x >= lower && x < upper;
    const unsigned bin = truncated(place);
    return !inside ? count : bin < count ? bin : count - 1;
  }
};

template <class T>
struct Bins<T, By<Binning::edges>> {
  const T* edges;  // [count + 1]
  unsigned count;
  UPSWEEP_HD unsigned operator()(T x) const {
    if (!(x >= edges[0] && x < edges[count])) return count;
    unsigned first = 0, last = count;  // edges[first] <= x < edges[last]
    while (last - first > 1) {
      const unsigned middle = (first + last) / 2;
      (x < edges[middle] ? last : first) = middle;
    }
    return first;
  }
};

template <class T>
struct Bins<T, By<Binning::direct>> {
  unsigned count;
  UPSWEEP_HD unsigned operator()(T x) const {
    return static_cast<std::uint64_t>(x) < count ? static_cast<unsigned>(x) : count;  // a negative one is large
  }
};

// ---- arguments ------------------------------------------------------------------------------------------------------

template <class T, class O>
struct Input {
  Samples<T> samples;
  Bins<T, O> bins;

  // True if no sample can be in no bin. Never with edges: the greatest value is not below the last one. By the host,
  // which cannot read edges in a GPU's memory.
  bool covers_every_value() const {
    if constexpr (std::is_floating_point_v<T> || O::binning == Binning::edges)
      return false;
    else
      return bins(std::numeric_limits<T>::min()) < bins.count && bins(std::numeric_limits<T>::max()) < bins.count;
  }

  // Counters, and after them one for the samples in no bin: what a rung counts in.
  UPSWEEP_HD unsigned counters() const { return samples.channels * bins.count; }
  UPSWEEP_HD unsigned counter_of(std::size_t i) const {
    const unsigned bin = bins(samples[i]);
    return bin < bins.count ? samples.channel(i) * bins.count + bin : counters();
  }
};

// The counters of the caller.
struct Output {
  void* counts;  // of `bits` bits each; those of 8 and 16 saturate
  unsigned bits;
  std::uint64_t* outside;  // [1], or null
  bool adds = false;       // to the counts that are there

  // Calls f with the counters in their own type.
  template <class F>
  UPSWEEP_HD void visit(F&& f) const {
    switch (bits) {
      case 8:
        return f(static_cast<std::uint8_t*>(counts));
      case 16:
        return f(static_cast<std::uint16_t*>(counts));
      case 32:
        return f(static_cast<std::uint32_t*>(counts));
      default:
        return f(static_cast<std::uint64_t*>(counts));
    }
  }
  // The largest count.
  UPSWEEP_HD std::uint64_t top() const { return ~std::uint64_t{0} >> (64 - bits); }
  UPSWEEP_HD void put(std::size_t k, std::uint64_t count) const {
    const std::uint64_t most = top();
    if (adds) count += get(k);
    visit([=]<class C>(C* all) { all[k] = static_cast<C>(count < most ? count : most); });
  }
  UPSWEEP_HD std::uint64_t get(std::size_t k) const {
    std::uint64_t count = 0;
    visit([&](const auto* all) { count = all[k]; });
    return count;
  }
  UPSWEEP_HD void put_outside(std::uint64_t count) const {
    if (outside) *outside = adds ? *outside + count : count;
  }
};

template <class T, class O>
struct Args : Execution {
  Input<T, O> in;
  Output out;
};

}  // namespace upsweep::ladders::histogram

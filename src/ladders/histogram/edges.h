// Edges whose type differs from the samples'.
//
// Samples and edges are compared by numerical value: the bin from 0.5 to 1.5 has the integer 1, and the bin from 128 to
// 256 has all bytes of 128 or more. Rungs search among edges of the samples' type, so the edges are converted first:
// edge k becomes the smallest sample value that is not below it, and the last edge becomes the largest sample value in
// the last bin, which is then closed. Edges may become equal; the bins between them are then empty.
//
// Bins that begin above that largest value are empty, too. Their edges are clamped to it, so a rung counts the samples
// with that value in the last bin. Afterwards the count is moved to the bin that contains the value.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/workspace.h"
#include "ladders/histogram/contract.h"

namespace upsweep::ladders::histogram {

// The edges, converted to the samples' stored type T.
template <class T>
struct EdgesOfSamples {
  OtherEdges given;  // [bins + 1]
  unsigned bins;
  T sign;       // as in Bins
  bool closed;  // the last bin

  // The value of a sample or of an edge: an integer, or a float of type T.
  using Value = std::conditional_t<std::is_integral_v<T>, Int128, T>;

  UPSWEEP_HD T operator[](unsigned k) const {
    const Value end = last(), begin = k < bins ? first(k) : end;
    return static_cast<T>(begin < end ? begin : end);
  }
  // Returns the number of bins that begin at or below the largest sample value in the range; later bins are empty.
  // Returns 0 if no sample value is in the range, and an arbitrary number up to `bins` if the edges do not ascend.
  UPSWEEP_HD unsigned bins_in_range() const {
    const Value end = last();
    unsigned low = 0, high = bins;
    while (low < high) {
      const unsigned middle = (low + high) / 2;
      if (first(middle) <= end)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

 private:
  // Returns the smallest sample value that is not below edge k; past the type's range if there is none.
  UPSWEEP_HD Value first(unsigned k) const {
    return with_edge(k, [this](auto edge) -> Value {
      if constexpr (std::is_integral_v<T>) {
        const Value value = whole(edge, std::ceil(static_cast<double>(edge)));
        return value > least() ? value : least();
      } else {
        const T value = static_cast<T>(edge);
        return is_below(value, edge) ? std::nextafter(value, std::numeric_limits<T>::infinity()) : value;
      }
    });
  }
  // Returns the largest sample value below the upper edge of the last bin, or at it if that bin is closed; below the
  // type's range if there is none.
  UPSWEEP_HD Value last() const {
    return with_edge(bins, [this](auto edge) -> Value {
      if constexpr (std::is_integral_v<T>) {
        const double rounded = closed ? std::floor(static_cast<double>(edge)) : std::ceil(static_cast<double>(edge));
        const Value value = whole(edge, rounded) - (closed ? 0 : 1);
        return value < greatest() ? value : greatest();
      } else {
        const T value = static_cast<T>(edge);
        const bool is_in = closed ? !is_below(edge, value) : is_below(value, edge);
        return is_in ? value : std::nextafter(value, -std::numeric_limits<T>::infinity());
      }
    });
  }

  UPSWEEP_HD Value least() const { return sign ? -static_cast<Value>(sign) : Value{0}; }
  UPSWEEP_HD Value greatest() const { return least() + std::numeric_limits<T>::max(); }

  // Returns an integer edge, or the value to which a float edge is rounded, as a 128-bit integer; for NaN and values
  // beyond the range of 64-bit integers, some number beyond that range.
  template <class E>
  UPSWEEP_HD static Int128 whole(E edge, double rounded) {
    if constexpr (std::is_integral_v<E>) {
      return edge;
    } else {
      constexpr double beyond = 0x1p65;
      const double x = !(rounded < beyond) ? beyond : rounded > -beyond ? rounded : -beyond;
      const double high = std::floor(x * 0x1p-32);
      return static_cast<Int128>(static_cast<std::int64_t>(high)) * (std::int64_t{1} << 32) +
             static_cast<std::int64_t>(x - high * 0x1p32);
    }
  }
  // Returns a < b, exactly, for two floats, or for an integer and a float that is whole or infinite.
  template <class A, class B>
  UPSWEEP_HD static bool is_below(A a, B b) {
    if constexpr (std::is_floating_point_v<A> && std::is_floating_point_v<B>)
      return static_cast<double>(a) < static_cast<double>(b);
    else
      return whole(a, static_cast<double>(a)) < whole(b, static_cast<double>(b));
  }
  template <class F>
  UPSWEEP_HD Value with_edge(unsigned k, F&& f) const {
    switch (given.type) {
      case Type::i8:
        return f(static_cast<const std::int8_t*>(given.data)[k]);
      case Type::u8:
        return f(static_cast<const std::uint8_t*>(given.data)[k]);
      case Type::i16:
        return f(static_cast<const std::int16_t*>(given.data)[k]);
      case Type::u16:
        return f(static_cast<const std::uint16_t*>(given.data)[k]);
      case Type::i32:
        // unreached: on the traced emulator, edges of integers are those of i32 samples, which are not converted
        return f(static_cast<const std::int32_t*>(given.data)[k]);
      case Type::u32:
        return f(static_cast<const std::uint32_t*>(given.data)[k]);
      case Type::i64:
        return f(static_cast<const std::int64_t*>(given.data)[k]);
      case Type::u64:
        return f(static_cast<const std::uint64_t*>(given.data)[k]);
      case Type::f32:
        return f(static_cast<const float*>(given.data)[k]);
      default:
        return f(static_cast<const double*>(given.data)[k]);
    }
  }
};

template <class T>
struct StoreEdges {
  EdgesOfSamples<T> from;
  T* to;  // [bins + 1]
  UPSWEEP_HD void operator()(unsigned k) const { to[k] = from[k]; }
};

// Moves a channel's count from the last bin to the last bin that begins in the range. If no bin does, all samples are
// in no bin.
template <class T>
struct EmptyBinsPastRange {
  EdgesOfSamples<T> edges;
  Output out;
  std::size_t samples;
  UPSWEEP_HD void operator()(unsigned channel) const {
    const unsigned full = edges.bins_in_range();
    if (full == edges.bins) return;
    const std::size_t bin_0 = std::size_t{channel} * edges.bins, last = bin_0 + edges.bins - 1;
    if (full > 0) out.put(bin_0 + full - 1, out.get(bin_0 + full - 1) + out.get(last));
    out.put(last, 0);
    if (full == 0 && channel == 0) out.put_outside(samples);
  }
};

// Runs a rung with the edges converted to the samples' type. for_each_index(execution, n, f), from kernel/each.h or
// cpu/each.h, calls f(k) for each k < n on the rung's backend.
template <class T, class O, class Run>
Status with_own_edges(Args<T, O> a, Run&& run) {
  Bins<T, O>& bins = a.in.bins;
  const EdgesOfSamples<T> edges{std::exchange(a.other_edges, {}), bins.count, bins.sign, bins.closed};
  Scratch scratch(*a.workspace);
  T* const own = scratch.take<T>(std::size_t{edges.bins} + 1);
  if (!scratch) return {Code::out_of_memory, 0, "no memory for edges of the samples' type"};
  if (Status s = for_each_index(a, edges.bins + 1, StoreEdges<T>{edges, own}); !s) return s;
  bins.edges = own;
  bins.closed = true;
  if (Status s = run(a); !s) return s;
  return for_each_index(a, a.in.samples.channels, EmptyBinsPastRange<T>{edges, a.out, a.in.samples.count});
}

}  // namespace upsweep::ladders::histogram

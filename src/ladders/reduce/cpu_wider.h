// Reductions in a type wider than the elements: converts the elements piece by piece and reduces each piece with the
// wider type's loop.
#pragma once
#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "ladders/reduce/cpu_simd.h"
#include "upsweep/operators.h"

namespace upsweep::ladders::reduce {

// Elements per piece: 8 KiB after conversion, a quarter of the smallest L1 in servers.
template <class Out>
inline constexpr std::size_t piece_elements = (8 << 10) / sizeof(Out);

template <class T, class Out>
void convert(const T* in, std::size_t n, Out* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<Out>(in[i]);
}

template <class T, class O, class Out>
void reduce_wider(const void* from, std::size_t n, void* out) {
  static const SpanReduction reduce = simd_reduction(type_of<Out>(), O::operation, From::caches);
  const T* const in = static_cast<const T*>(from);
  alignas(64) Out piece[piece_elements<Out>];
  Out total = O::template neutral<Out>();
  for (std::size_t i = 0; i < n; i += piece_elements<Out>) {
    const std::size_t count = std::min(piece_elements<Out>, n - i);
    convert(in + i, count, piece);
    Out part;
    reduce(piece, count, &part);
    total = O{}(total, part);
  }
  *static_cast<Out*>(out) = total;
}

// Reduces integers to their minimum or maximum, then widens it: the conversion preserves order. n > 0.
template <class T, class O, class Out, From from>
void reduce_then_widen(const void* in, std::size_t n, void* out) {
  static const SpanReduction reduce = simd_reduction(type_of<T>(), O::operation, from);
  T extreme;
  reduce(in, n, &extreme);
  *static_cast<Out*>(out) = extreme;
}

// Returns the loop that reduces elements of type T to a result of type Out.
template <class T, class O, class Out>
SpanReduction reduction_to(From from) {
  if constexpr (std::is_same_v<T, Out>)
    return simd_reduction(type_of<T>(), O::operation, from);
  else if constexpr (std::is_integral_v<T> && !std::is_same_v<O, Sum>)
    return from == From::caches ? &reduce_then_widen<T, O, Out, From::caches>
                                : &reduce_then_widen<T, O, Out, From::memory>;
  else
    return &reduce_wider<T, O, Out>;
}

}  // namespace upsweep::ladders::reduce

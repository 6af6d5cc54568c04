// Scans in a type wider than the elements: converts the elements into the output piece by piece and scans each piece
// there. Halves are scanned as floats in a buffer and rounded into the output.
#pragma once
#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "ladders/reduce/cpu_wider.h"
#include "ladders/scan/cpu_simd.h"

namespace upsweep::ladders::scan {

template <class T, class O, class Out>
void scan_wider(const void* from, void* to, std::size_t n, void* carry, How how) {
  static const SpanScan scan = simd_scan(type_of<Out>(), O::operation);
  const T* const in = static_cast<const T*>(from);
  Out* const out = static_cast<Out*>(to);
  constexpr std::size_t piece = reduce::piece_elements<Out>;
  for (std::size_t i = 0; i < n; i += piece) {
    const std::size_t count = std::min(piece, n - i);
    reduce::convert(in + i, count, out + i);
    scan(out + i, out + i, count, carry, {how.inclusive, Stores::cached});  // the piece is in the cache
  }
}

template <class T, class O>
void scan_halves(const void* from, void* to, std::size_t n, void* carry, How how) {
  static const SpanScan scan = simd_scan(Type::f32, O::operation);
  const T* const in = static_cast<const T*>(from);
  T* const out = static_cast<T*>(to);
  constexpr std::size_t piece = reduce::piece_elements<float>;
  alignas(64) float sums[piece];
  for (std::size_t i = 0; i < n; i += piece) {
    const std::size_t count = std::min(piece, n - i);
    reduce::convert(in + i, count, sums);
    scan(sums, sums, count, carry, {how.inclusive, Stores::cached});
    reduce::convert(sums, count, out + i);
  }
}

// Returns the scan of elements of type T to type Out. If the types differ, in and out must not overlap.
template <class T, class O, class Out>
SpanScan scan_to() {
  if constexpr (is_half<Out>)
    return &scan_halves<T, O>;
  else if constexpr (std::is_same_v<T, Out>)
    return simd_scan(type_of<T>(), O::operation);
  else
    return &scan_wider<T, O, Out>;
}

}  // namespace upsweep::ladders::scan

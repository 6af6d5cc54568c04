// Scans in a type wider than the elements: converts them into the output piece by piece and scans them there.
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

// Returns the scan of T to Out. If these differ, in and out must not overlap.
template <class T, class O, class Out>
SpanScan scan_to() {
  if constexpr (std::is_same_v<T, Out>)
    return simd_scan(type_of<T>(), O::operation);
  else
    return &scan_wider<T, O, Out>;
}

}  // namespace upsweep::ladders::scan

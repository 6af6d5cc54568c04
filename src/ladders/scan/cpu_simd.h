// The one-core SIMD scan, for rungs that build on it.
#pragma once
#include <cstddef>

#include "cpu/cache.h"
#include "ladders/scan/contract.h"
#include "upsweep/types.h"

namespace upsweep::ladders::scan {

struct How {
  bool inclusive;
  Stores stores;
  // Prefetch distance in bytes. Loads one element to the left cross cache lines, and such a load is presumably replayed
  // if a line misses. On Zen 4, cold scans of 2^10 to 2^14 elements take 5 to 19 % longer without prefetching;
  // distances of 256 and 1024 tie with 512. In cache, prefetching is free.
  std::ptrdiff_t ahead = 512;
};

// Scans in[0..n) to out[0..n); both need only the alignment of their elements, and in may be out. *carry is the prefix
// of in[0] (the neutral element if empty); on return, it also includes all n elements.
using SpanScan = void (*)(const void* in, void* out, std::size_t n, void* carry, How how);

// Stores out[0] of an exclusive scan if the empty prefix is not the neutral element, which the SpanScan has stored.
template <class T, class Op, class Out>
void store_empty_prefix(const Args<T, Op, Out>& a) {
  if constexpr (none_is_not_neutral<Op, Out>)
    if (!a.inclusive && a.n > 0) a.out[0] = a.initial.alone();
}

// Returns the scan for this processor's vector width; null for products of types of 8 and 16 bits. Resolve once, call
// many times.
SpanScan simd_scan(Type type, Op op);

// Bytes per block that a core reads twice: half of the smallest L2 in servers, so that the block survives the writes.
// single_pass at 256 KiB, 1 MiB and 4 MiB (2^24 i32, cold, two Zen 4 cores): 41 to 42, 35 to 37 and 33 GB/s.
inline constexpr std::size_t block_bytes = 256 << 10;

}  // namespace upsweep::ladders::scan

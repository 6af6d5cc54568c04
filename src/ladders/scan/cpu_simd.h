// The one-core SIMD scan, for the rungs that build on it.
#pragma once
#include <cstddef>

#include "cpu/cache.h"
#include "upsweep/types.h"

namespace upsweep::ladders::scan {

struct How {
  bool inclusive;
  Stores stores;
  // Bytes ahead of what is read that are asked for. Loads of what lies to the left cross lines, and one that finds
  // neither of its two is asked for again: from memory 2^10 to 2^14 elements take 5 to 19 % longer without, the same
  // with 256 and 1024. In cache it costs nothing.
  std::ptrdiff_t ahead = 512;
};

// Scans in[0..n) to out[0..n), n elements at any alignment of the element; in may be out. *carry is what comes before
// in[0] (the neutral element where nothing does), and afterwards that and all n elements combined.
using SpanScan = void (*)(const void* in, void* out, std::size_t n, void* carry, How how);

// For this processor's vector width. Any type, sum, minimum or maximum. Resolve once, call many times.
SpanScan simd_scan(Type type, Op op);

// A block that a core looks at twice: half of the smallest L2 that servers have, so that it outlives what is written
// meanwhile. single_pass, i32 at 2^24, GB/s with blocks of 256 KiB, 1 MiB and 4 MiB: 41 to 42, 35 to 37 and 33.
inline constexpr std::size_t block_bytes = 256 << 10;

}  // namespace upsweep::ladders::scan

// partition/shared_reorder: tiles are sorted by bucket in shared memory, then written run by run.
//
// Scattered writes touch one sector each, and atomics that assign offsets serialise. Here each block has a contiguous
// share of the keys. A first kernel counts the buckets of each share; an exclusive scan of these counts, in
// bucket-major order, gives the offset of each share's first key per bucket. A second kernel sorts each share by
// bucket, tile by tile, so that neighbouring lanes write to neighbouring offsets.
//
// Traffic   keys read twice and written once, values read and written once, in one run per bucket of a tile; 8 bytes
//           per share and bucket, written, scanned and read.
// Order     stable: shares and tiles keep the order of the input, and tiles are sorted stably.
// Source    Satish, Harris, Garland, Designing Efficient Sorting Algorithms for Manycore GPUs, 2009; Ashkiani,
//           Davidson, Meyer, Owens, GPU Multisplit, 2016 (ranks by ballots).
#pragma once
#include "kernel/multisplit/reorder.h"
#include "ladders/partition/contract.h"
#include "ladders/scan/10_reduce_then_scan.cuh"
#include "ladders/scan/contract.h"

namespace upsweep::ladders::partition {

struct shared_reorder {
  static constexpr Story story{
      .idea = "tiles sorted by bucket in shared memory; offsets from a scan of each block's counts",
      .prediction = "12 bytes moved per u32 key, of which 8 count: 0.6 of the copy ceiling, less the sort in the tile",
      .guarantees = "stable",
      .limits = "any n; whole warps, at most 512 threads; 8 bytes of scratch per bucket and block; five launches",
      .source = "Satish, Harris, Garland, 2009; Ashkiani et al., GPU Multisplit, 2016"};
  static constexpr Coverage coverage = Coverage::widths;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    return reorder_pass(a, [&](std::uint64_t* counts, std::size_t count) {
      return scan::reduce_then_scan::run<std::uint64_t, Sum>({a, counts, counts, count, false, Sum{}});
    });
  }
};

}  // namespace upsweep::ladders::partition

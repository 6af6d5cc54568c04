// scan/reduce_then_scan: the first pass only computes totals, from which the second pass gets its prefixes.
//
// The uniform add reads and writes every element once more. Here each block owns a range: one launch sums the ranges, a
// second scans their totals, and a third scans each range from its prefix. This saves one write per element: the
// traffic is 3 arrays instead of 4. The grid has only as many blocks as are resident, so one block can scan the totals.
// Each block walks its range tile by tile, with 64 bytes per thread in flight, and carries the sum in a register.
//
// Traffic   2 reads and 1 write per element, 16 bytes per lane. If the addresses of in and out differ modulo 16, each
//           lane stores single elements, one pack apart from its neighbour's.
// Order     left to right: packs, lanes, rows, warps, tiles, ranges.
// Source    Dotsenko, Govindaraju, Sloan, Boyd, Manferdelli, Fast Scan Algorithms on Graphics Processors, 2008;
//           Merrill, Grimshaw, Parallel Scan for Stream Architectures, 2009.
#pragma once
#include "kernel/block.h"
#include "kernel/rows.h"
#include "ladders/scan/contract.h"

namespace upsweep::ladders::scan {

// Rows of packs per warp and tile. Four rows for each of 1024 resident threads keep 64 KB in flight per multiprocessor;
// for 4.3 TB/s at a latency of 0.7 us, each of an H200's 132 multiprocessors needs less than half of that.
inline constexpr unsigned range_rows = 4;

// Returns the position in the input of this lane's first pack of a tile.
template <class T>
__device__ __forceinline__ std::size_t range_position(std::size_t tile) {
  const std::size_t warp = (tile * blockDim.x + threadIdx.x) / warp_size;
  return warp * range_rows * row_elements<T> + threadIdx.x % warp_size * Pack<T>::size;
}

template <class T, class Op>
__global__ void __launch_bounds__(1024) range_totals_kernel(const T* in,                       // [n]
                                                            Total<T, Op>* totals,              // [gridDim.x]
                                                            std::size_t n, std::size_t tiles,  // per range
                                                            Op op) {
  using A = Total<T, Op>;
  __shared__ A warp_totals[warp_size];
  const Aligned<T> input(in, n);
  A total = Op::template neutral<A>();  // valid in thread 0
  for (std::size_t tile = blockIdx.x * tiles; tile < (blockIdx.x + 1) * tiles; ++tile) {
    uint4 rows[range_rows];
    load_rows<Op>(input, range_position<T>(tile), rows);
    const A sum = total_rows<T>(rows, op);  // valid in lane 0
    total = op(total, block_reduce(threadIdx.x % warp_size == 0 ? sum : Op::template neutral<A>(), op, warp_totals));
    __syncthreads();  // warp_totals has been read
  }
  if (threadIdx.x == 0) totals[blockIdx.x] = total;
}

template <class T, class Op>
__global__ void __launch_bounds__(1024)
    range_scan_kernel(const T* in,                       // [n]
                      T* out,                            // [n]
                      const Total<T, Op>* before,        // [gridDim.x], each range's prefix, or null
                      std::size_t n, std::size_t tiles,  // per range
                      bool inclusive, Op op) {
  using A = Total<T, Op>;
  __shared__ A warp_totals[2][warp_size];  // double-buffered: one barrier per tile
  const Aligned<T> input(in, n);
  A left = before && blockIdx.x > 0 ? before[blockIdx.x] : Op::template neutral<A>();
  for (std::size_t k = 0; k < tiles; ++k) {
    const std::size_t position = range_position<T>(blockIdx.x * tiles + k);
    uint4 rows[range_rows];
    A before_pack[range_rows], total;
    load_rows<Op>(input, position, rows);
    const A before_warp = scan_warps(scan_rows<T>(rows, before_pack, op), op, warp_totals[k % 2], total);
    finish_rows<T>(rows, before_pack, op(left, before_warp), inclusive, op);
    store_rows(out - input.begin, input, position, rows);
    store_empty_prefix<Op>(out - input.begin, input, position, inclusive);
    left = op(left, total);
  }
}

struct reduce_then_scan {
  static constexpr Story story{.idea = "reduce ranges, scan their totals, scan each range: no uniform add",
                               .prediction =
                                   "at most two thirds of the copy ceiling, 2850 GB/s on an H200, and 2400 "
                                   "at 2^28; 7 us at small n, for three launches",
                               .guarantees = "same bits for the same n, grid, block and alignment",
                               .limits = "sum, min, max; any n; whole warps",
                               .source = "Dotsenko et al. 2008; Merrill and Grimshaw 2009"};
  template <class T, class Op>
  static constexpr bool supports = in_every_rung<Op>;
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    const auto threads = a.tuning.block_or(256);
    if (!whole_warps(threads)) return not_whole_warps;
    if (a.n == 0) return {};
    using A = Total<T, Op>;
    const auto tiles_of = [&](std::size_t packs) { return ceil_div(packs, range_rows * threads); };
    // Four blocks of 256 threads per multiprocessor leave 64 registers per thread.
    const auto most = a.tuning.grid_or(machine().multiprocessors * 4);
    const std::size_t tiles = tiles_of(ceil_div(Aligned<T>(a.in, a.n).end, Pack<T>::size));
    const std::size_t range = ceil_div(tiles, most);
    const auto ranges = static_cast<unsigned>(ceil_div(tiles, range));
    const auto shape = [&](unsigned grid) { return Shape{.grid = grid, .block = threads, .stream = a.stream}; };
    if (ranges == 1)
      return launch(range_scan_kernel<T, Op>, shape(1), a.in, a.out, nullptr, a.n, range, a.inclusive, a.op);

    Scratch scratch(*a.workspace);
    A* const totals = scratch.take<A>(ranges);
    A* const before = scratch.take<A>(ranges);
    if (!scratch) return {Code::out_of_memory, 0, "no memory for the ranges' totals"};
    const std::size_t few = tiles_of(ceil_div(Aligned<A>(totals, ranges).end, Pack<A>::size));
    if (Status s = launch(range_totals_kernel<T, Op>, shape(ranges), a.in, totals, a.n, range, a.op); !s) return s;
    if (Status s = launch(range_scan_kernel<A, Op>, shape(1), totals, before, nullptr, ranges, few, false, a.op); !s)
      return s;
    return launch(range_scan_kernel<T, Op>, shape(ranges), a.in, a.out, before, a.n, range, a.inclusive, a.op);
  }
};

}  // namespace upsweep::ladders::scan

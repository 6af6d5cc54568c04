// scan/reduce_then_scan: the first pass only sums, and the second knows what is left of it.
//
// The uniform add reads and writes everything once more. Here each block has a range: one launch sums the ranges, one
// scans their totals, one scans each range from what is left of it. A write an element less: 3 arrays' worth of traffic
// instead of 4. Ranges are as many as the device holds blocks, so that their totals are a tile; a block walks its own
// tile by tile, 64 bytes a thread in flight, and carries the sum along in a register.
//
// Traffic   2 reads and 1 write an element, 16 bytes a lane. Where out is aligned otherwise than in: stores of one
//           element a lane, a pack apart.
// Order     left to right: packs, lanes, rows, warps, tiles, ranges.
// Source    Dotsenko, Govindaraju, Sloan, Boyd, Manferdelli, Fast Scan Algorithms on Graphics Processors, 2008;
//           Merrill, Grimshaw, Parallel Scan for Stream Architectures, 2009.
#pragma once
#include "kernel/block.h"
#include "scan/contract.h"
#include "scan/pack_view.cuh"

namespace upsweep::ladders::scan {

// A warp's part of a tile is so many rows of 32 packs. Four rows for each of 1024 threads are 64 KB in flight a
// multiprocessor, more than twice what 4.3 TB/s at 0.7 us ask of each of 132. Of narrow types they are as many
// elements, 16 a thread, and fewer rows: 64 elements would not stay in registers.
template <class T>
inline constexpr unsigned rows = sizeof(T) < 4 ? sizeof(T) : 4;

// The first of this lane's packs of a tile; the others follow 32 apart.
template <class T>
__device__ __forceinline__ std::size_t first_pack(std::size_t tile) {
  const unsigned lane = threadIdx.x % warp_size;
  return (tile * blockDim.x + threadIdx.x - lane) * rows<T> + lane;
}

template <class T, class Op>
__device__ __forceinline__ void load_rows(const PackView<T>& array, std::size_t first, Op op,
                                          Pack<T> (&packs)[rows<T>]) {
#pragma unroll
  for (unsigned r = 0; r < rows<T>; ++r) packs[r] = array.load(first + r * warp_size, op);
}

template <class T, class Op>
__global__ void __launch_bounds__(1024) range_totals_kernel(PackView<T> array,
                                                            T* totals,          // [gridDim.x]
                                                            std::size_t tiles,  // a range
                                                            Op op) {
  __shared__ T warp_totals[warp_size];
  T total = Op::template neutral<T>();  // thread 0's
  for (std::size_t tile = blockIdx.x * tiles; tile < (blockIdx.x + 1) * tiles; ++tile) {
    Pack<T> packs[rows<T>];
    load_rows(array, first_pack<T>(tile), op, packs);
    T sum = warp_reduce(fold(packs[0], op), op);  // lane 0's: of the warp's rows
#pragma unroll
    for (unsigned r = 1; r < rows<T>; ++r) sum = op(sum, warp_reduce(fold(packs[r], op), op));
    sum = block_reduce(threadIdx.x % warp_size == 0 ? sum : Op::template neutral<T>(), op, warp_totals);
    total = op(total, sum);
    __syncthreads();  // warp_totals is read
  }
  if (threadIdx.x == 0) totals[blockIdx.x] = total;
}

template <class T, class Op>
__global__ void __launch_bounds__(1024) range_scan_kernel(PackView<T> array,
                                                          const T* before,  // [gridDim.x], left of each range, or null
                                                          std::size_t tiles,  // a range
                                                          bool inclusive, Op op) {
  __shared__ T warp_totals[2][warp_size];  // two take turns: one barrier a tile
  T prefix = before ? before[blockIdx.x] : Op::template neutral<T>();
  for (std::size_t k = 0; k < tiles; ++k) {
    const std::size_t first = first_pack<T>(blockIdx.x * tiles + k);
    Pack<T> packs[rows<T>];
    load_rows(array, first, op, packs);

    // 1. Each warp for itself: what is left of each of a lane's packs.
    T left[rows<T>], sum = Op::template neutral<T>();  // of the rows so far
#pragma unroll
    for (unsigned r = 0; r < rows<T>; ++r) {
      const T upto = warp_scan(fold(packs[r], op), op);
      left[r] = op(sum, from_left_lane(upto, op));
      sum = op(sum, T(__shfl_sync(all_lanes, upto, warp_size - 1)));
    }

    // 2. The warps, after what is left of the tile.
    T total;
    const T before_warp = op(prefix, scan_warps(sum, op, warp_totals[k % 2], total));

    // 3. Element by element through the packs.
#pragma unroll
    for (unsigned r = 0; r < rows<T>; ++r) {
      T upto = op(before_warp, left[r]);
#pragma unroll
      for (T& item : packs[r].item) {
        const T next = op(upto, item);
        item = inclusive ? next : upto;
        upto = next;
      }
      array.store(first + r * warp_size, packs[r]);
    }
    prefix = op(prefix, total);
  }
}

struct reduce_then_scan {
  static constexpr Story story{.idea = "totals of ranges, their scan, the scan of each range: no uniform add",
                               .prediction =
                                   "two thirds of the copy ceiling at most, 2850 GB/s on an H200, and 2400 "
                                   "at 2^28; 7 us when n is small, the three launches",
                               .guarantees = "same bits for the same n, grid, block and alignment",
                               .limits = "any n; whole warps",
                               .source = "Dotsenko et al. 2008; Merrill and Grimshaw 2009"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    const auto threads = static_cast<unsigned>(a.params.get("block", 256));
    if (!whole_warps(threads)) return not_whole_warps;
    if (a.n == 0) return {};
    const auto tiles_of = [&](const PackView<T>& array) { return ceil_div(array.packs(), rows<T> * threads); };

    // Four blocks of 256 a multiprocessor leave 64 registers a thread.
    const auto most = static_cast<std::size_t>(a.params.get("grid", device_limits().multiprocessors * 4));
    const PackView<T> array(a.in, a.out, a.n);
    const std::size_t tiles = tiles_of(array), range = ceil_div(tiles, most);
    const auto ranges = static_cast<unsigned>(ceil_div(tiles, range));
    const auto shape = [&](unsigned grid) { return Shape{.grid = grid, .block = threads, .stream = a.stream}; };
    if (ranges == 1) return launch(range_scan_kernel<T, Op>, shape(1), array, nullptr, range, a.inclusive, a.op);

    T* const totals = static_cast<T*>(a.workspace->scratch(2 * ranges * sizeof(T)));
    if (!totals) return {Code::out_of_memory, 0, "no memory for the ranges' totals"};
    T* const before = totals + ranges;
    const PackView<T> all(totals, before, ranges);
    if (Status s = launch(range_totals_kernel<T, Op>, shape(ranges), array, totals, range, a.op); !s) return s;
    if (Status s = launch(range_scan_kernel<T, Op>, shape(1), all, nullptr, tiles_of(all), false, a.op); !s) return s;
    return launch(range_scan_kernel<T, Op>, shape(ranges), array, before, range, a.inclusive, a.op);
  }
};

}  // namespace upsweep::ladders::scan

// scan/pipeline: a warp-specialised kernel, in which tiles pass from role to role.
//
// In a look-back scan, a block waits for its tile and then for earlier totals, and issues no loads meanwhile. Here,
// each multiprocessor runs one block, whose warps fetch, total, place and scan different tiles concurrently
// (kernel/warp_pipeline.h). To place a tile, that is, to find its prefix, a warp sums the totals of the tiles since the
// block's previous one. Totals depend only on the input, so there is no chain of prefixes from tile to tile, and the
// round trips to L2 overlap with the scans of earlier tiles.
//
// Traffic   n reads by bulk copies and n writes; per tile, about one total for each multiprocessor (132 on an H200).
// Order     depends on which block claims which tile; matters only for sums that round.
// Source    decoupled look-back: Merrill and Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016.
#pragma once
#include "kernel/warp_pipeline.h"
#include "ladders/scan/choose.h"
#include "ladders/scan/contract.h"

namespace upsweep::ladders::scan {

template <class Shape, class T, class Op, class Out>
struct ScanJobs {
  using A = Total<Out, Op>;
  using Pipeline = ScanPipeline<Shape>;
  static constexpr unsigned threads = Shape::threads, stages = Shape::stages, elements = Shape::packs * Pack<T>::size;
  static constexpr unsigned shared_bytes = stages * Shape::packs * 16;
  struct Shared {
    typename Pipeline::Shared ring;
    std::uint64_t placed[stages];            // mbarriers
    A between[stages];                       // sum of the totals of tiles [last_tile, tile)
    A before_warp[stages][Shape::scanners];  // each scanning warp's prefix within the tile
  };

  Pipeline pipeline;
  const Aligned<T>& in;
  Out* out;  // points in.begin elements before the output
  T* tiles;  // [stages][elements], shared
  Shared& shared;
  Op op;
  Initial<Out, Op> initial;
  unsigned lane = threadIdx.x % warp_size;

  __device__ void prepare() {
    init_barriers(shared.placed, 2 * warp_size);  // arrivals by total() and place()
    prefetch_first_tile(in, elements);
  }

  __device__ void fetch(unsigned step, unsigned tile) {
    const unsigned s = step % stages;
    fetch_packs(in, std::size_t(tile) * elements, elements, 0, Op::template neutral<T>(),
                tiles + std::size_t(s) * elements, &shared.ring.fetched[s]);
  }

  // Computes a tile's total and each scanning warp's prefix within the tile; publishes the total.
  __device__ void total(unsigned warp) {
    pipeline.for_each_tile(shared.ring.fetched, warp, Shape::totallers, [&](unsigned step, unsigned tile) {
      const unsigned s = step % stages;
      A sum = Op::template neutral<A>();
      for (unsigned w = 0; w < Shape::scanners && tile < pipeline.tiles; ++w) {
        if (lane == 0) shared.before_warp[s][w] = sum;
        uint4 rows[Shape::rows];
        read_rows(s, w, rows);
        sum = op(sum, total_rows<T, Out>(rows, op));
      }
      if (tile < pipeline.tiles && lane == 0)
        store_tagged(pipeline.descriptors.array() + std::size_t(tile) * words_per<A>, shared.ring.epoch, sum);
      mbarrier_arrive(&shared.placed[s]);
    });
  }

  // Sums the totals of the tiles from this block's previous tile up to, but not including, this tile.
  __device__ void place(unsigned warp) {
    pipeline.for_each_tile(shared.ring.fetched, warp, Shape::placers, [&](unsigned step, unsigned tile) {
      const unsigned s = step % stages;
      A sum = Op::template neutral<A>();
      if (tile < pipeline.tiles)
        sum = total_between<A>(pipeline.descriptors, shared.ring.epoch, shared.ring.last_tile[s], tile, op);
      if (lane == 0) shared.between[s] = sum;
      mbarrier_arrive(&shared.placed[s]);
    });
  }

  __device__ void scan(unsigned warp, bool inclusive) {
    A before_tile = initial.value;
    pipeline.for_each_tile(shared.placed, 0, 1, [&](unsigned step, unsigned tile) {
      if (tile == pipeline.tiles) return;
      const unsigned s = step % stages;
      before_tile = op(before_tile, shared.between[s]);
      const A left = op(before_tile, shared.before_warp[s][warp]);
      uint4 rows[Shape::rows];
      A before[Shape::rows];
      read_rows(s, warp, rows);
      mbarrier_arrive(&shared.ring.freed[s]);
      scan_rows<T, Out>(rows, before, op);
      const unsigned first = warp * Shape::rows * row_elements<T> + lane * Pack<T>::size;
      write_scan(out, in, std::size_t(tile) * elements + first, rows, before, left, inclusive, op, initial);
    });
  }

  __device__ void read_rows(unsigned s, unsigned warp, uint4 (&rows)[Shape::rows]) {
    const auto* const packs = reinterpret_cast<const uint4*>(tiles) + std::size_t(s) * Shape::packs;
#pragma unroll
    for (unsigned r = 0; r < Shape::rows; ++r) rows[r] = packs[(warp * Shape::rows + r) * warp_size + lane];
  }
};

template <class Shape, class T, class Op, class Out>
__global__ void __launch_bounds__(Shape::threads, 1)
    pipeline_kernel(const T* in,  // [n]
                    Out* out,     // [n]
                    Descriptors descriptors, std::size_t n, unsigned tiles, bool inclusive, Op op,
                    Initial<Out, Op> initial) {
  using Jobs = ScanJobs<Shape, T, Op, Out>;
  __shared__ typename Jobs::Shared shared;
  const Aligned<T> input(in, n);
  Jobs jobs{{shared.ring, descriptors, tiles}, input, out - input.begin, dynamic_shared<T>(), shared, op, initial};
  run_scan<Shape>(jobs, std::size_t(tiles) * words_per<Total<Out, Op>>, inclusive);
}

// Tiles of 32 KB: within 1 % of the best of about 30 shapes on an H200 at every power of two from 2^20 on
// (docs/notebook/scan.md). Few warps, with many loads each; only one warp places tiles, because more polling would slow
// L2 down.
using PipelineTiles = ScanShape</*Rows*/ 16, /*Scanners*/ 4, /*Stages*/ 6>;

struct pipeline {
  static constexpr Needs needs = pipeline_needs;
  static constexpr Story story{
      .idea = "one block per multiprocessor; its warps fetch, total, place and scan different tiles at once",
      .prediction = "0.95 of the copy ceiling at large n",
      .limits = "any n up to 2^32 tiles; fixed shape; 192 KB of shared memory per block",
      .source = "after Merrill and Garland, decoupled look-back, 2016"};
  static constexpr std::size_t ring_bytes = PipelineTiles::ring_bytes;
  static constexpr bool takes_initial = true;
  static constexpr bool takes_wider_output = true;
  static constexpr Coverage coverage = Coverage::widths;
  template <class T, class Op, class Out>
  static Status run(const Args<T, Op, Out>& a) {
    return start<PipelineTiles>(a);
  }

  template <class Shape, class T, class Op, class Out>
  static Status start(const Args<T, Op, Out>& a) {
    if (a.n == 0) return {};
    using Jobs = ScanJobs<Shape, T, Op, Out>;
    const std::size_t tiles = ceil_div(Aligned<T>(a.in, a.n).end, Jobs::elements);
    const Descriptors descriptors = descriptors_for<Total<Out, Op>>(*a.workspace, tiles);
    if (!descriptors.words) return no_memory_for_totals;
    return launch_pipeline<Jobs>(pipeline_kernel<Shape, T, Op, Out>, a, tiles, a.in, a.out, descriptors, a.n,
                                 unsigned(tiles), a.inclusive, a.op, a.initial);
  }
};

}  // namespace upsweep::ladders::scan

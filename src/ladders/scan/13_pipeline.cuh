// scan/pipeline: every warp has one job, and tiles pass from job to job.
//
// In a look-back scan a block waits for its tile and then for the totals before it, and meanwhile loads nothing.
// Here there is one block per multiprocessor, and its warps fetch, total, place and scan different tiles at once
// (kernel/warp_pipeline.h). A tile is placed by adding the totals of the tiles between its block's last tile and this
// one. Totals depend only on the input, so there is no chain of prefixes from tile to tile, and the trips through L2
// overlap the scans of earlier tiles.
//
// Traffic   n reads by bulk copies and n writes; 132 words of totals per tile.
// Order     depends on which block drew which tile; matters only for sums that round.
// Source    decoupled look-back: Merrill and Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016.
#pragma once
#include "kernel/warp_pipeline.h"
#include "ladders/scan/choose.h"
#include "ladders/scan/contract.h"

namespace upsweep::ladders::scan {

template <class Shape, class T, class Op>
struct ScanJobs {
  using A = Total<T, Op>;
  using Pipeline = ScanPipeline<Shape>;
  static constexpr unsigned threads = Shape::threads, stages = Shape::stages, elements = Shape::packs * Pack<T>::size;
  static constexpr unsigned shared_bytes = stages * Shape::packs * 16;
  struct Shared {
    typename Pipeline::Shared ring;
    std::uint64_t placed[stages];            // mbarriers
    A between[stages];                       // totals of tiles [last_tile, tile)
    A before_warp[stages][Shape::scanners];  // within the tile
  };

  Pipeline pipeline;
  const Aligned<T>& in;
  T* out;    // in.begin elements before the output
  T* tiles;  // [stages][elements], shared
  Shared& shared;
  Op op;
  unsigned lane = threadIdx.x % warp_size;

  __device__ void prepare() {
    init_barriers(shared.placed, 2 * warp_size);  // by total and by place
    prefetch_first_tile(in, elements);
  }

  __device__ void fetch(unsigned step, unsigned tile) {
    const unsigned s = step % stages;
    fetch_packs(in, std::size_t(tile) * elements, elements, 0, Op::template neutral<T>(),
                tiles + std::size_t(s) * elements, &shared.ring.fetched[s]);
  }

  // Adds up a tile, in the parts that the scanning warps will take, and publishes the total.
  __device__ void total(unsigned warp) {
    pipeline.for_each_tile(shared.ring.fetched, warp, Shape::totallers, [&](unsigned step, unsigned tile) {
      const unsigned s = step % stages;
      A sum = Op::template neutral<A>();
      for (unsigned w = 0; w < Shape::scanners && tile < pipeline.tiles; ++w) {
        if (lane == 0) shared.before_warp[s][w] = sum;
        uint4 rows[Shape::rows];
        read_rows(s, w, rows);
        sum = op(sum, total_rows<T>(rows, op));
      }
      if (tile < pipeline.tiles && lane == 0)
        store_tagged(pipeline.descriptors.array() + std::size_t(tile) * words_per<A>, shared.ring.epoch, sum);
      mbarrier_arrive(&shared.placed[s]);
    });
  }

  // Adds up the totals since this block's last tile.
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
    A before_tile = Op::template neutral<A>();
    pipeline.for_each_tile(shared.placed, 0, 1, [&](unsigned step, unsigned tile) {
      if (tile == pipeline.tiles) return;
      const unsigned s = step % stages;
      before_tile = op(before_tile, shared.between[s]);
      const A left = op(before_tile, shared.before_warp[s][warp]);
      uint4 rows[Shape::rows];
      A before[Shape::rows];
      read_rows(s, warp, rows);
      mbarrier_arrive(&shared.ring.freed[s]);
      scan_rows<T>(rows, before, op);
      finish_rows<T>(rows, before, left, inclusive, op);
      const unsigned first = warp * Shape::rows * row_elements<T> + lane * Pack<T>::size;
      const std::size_t position = std::size_t(tile) * elements + first;
      store_rows(out, in, position, rows);
      store_empty_prefix<Op>(out, in, position, inclusive);
    });
  }

  __device__ void read_rows(unsigned s, unsigned warp, uint4 (&rows)[Shape::rows]) {
    const auto* const packs = reinterpret_cast<const uint4*>(tiles) + std::size_t(s) * Shape::packs;
#pragma unroll
    for (unsigned r = 0; r < Shape::rows; ++r) rows[r] = packs[(warp * Shape::rows + r) * warp_size + lane];
  }
};

template <class Shape, class T, class Op>
__global__ void __launch_bounds__(Shape::threads, 1)
    pipeline_kernel(const T* in,  // [n]
                    T* out,       // [n]
                    Descriptors descriptors, std::size_t n, unsigned tiles, bool inclusive, Op op) {
  using Jobs = ScanJobs<Shape, T, Op>;
  __shared__ typename Jobs::Shared shared;
  const Aligned<T> input(in, n);
  Jobs jobs{{shared.ring, descriptors, tiles}, input, out - input.begin, dynamic_shared<T>(), shared, op};
  run_scan<Shape>(jobs, std::size_t(tiles) * words_per<Total<T, Op>>, inclusive);
}

// Tiles of 32 KB: of some 30 shapes on an H200, the best or within 1 % of it at every power of two from 2^20 on
// (docs/notes/scan.md). Few warps with many loads each; only one places, because more polls would slow L2 down.
using PipelineTiles = ScanShape</*Rows*/ 16, /*Scanners*/ 4, /*Stages*/ 6>;

struct pipeline {
  static constexpr Needs needs = pipeline_needs;
  static constexpr Story story{
      .idea = "one block per multiprocessor; its warps fetch, total, place and scan different tiles at once",
      .prediction = "0.95 of the copy ceiling when large",
      .limits = "any n up to 2^32 tiles; fixed shape; 192 KB of shared memory per block",
      .source = "after Merrill and Garland, decoupled look-back, 2016"};
  static constexpr std::size_t ring_bytes = PipelineTiles::ring_bytes;
  static constexpr Coverage coverage = Coverage::widths;
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    return start<PipelineTiles>(a);
  }

  template <class Shape, class T, class Op>
  static Status start(const Args<T, Op>& a) {
    if (a.n == 0) return {};
    using Jobs = ScanJobs<Shape, T, Op>;
    const std::size_t tiles = ceil_div(Aligned<T>(a.in, a.n).end, Jobs::elements);
    const Descriptors descriptors = descriptors_for<Total<T, Op>>(*a.workspace, tiles);
    if (!descriptors.words) return no_memory_for_totals;
    return launch_pipeline<Jobs>(pipeline_kernel<Shape, T, Op>, a, tiles, a.in, a.out, descriptors, a.n,
                                 unsigned(tiles), a.inclusive, a.op);
  }
};

}  // namespace upsweep::ladders::scan

// scan/pipeline: every warp has one job, and tiles pass from job to job.
//
// In a look-back scan a block waits: for its tile, for the totals of the tiles before it, and meanwhile loads nothing.
// Here one block lives on each multiprocessor, and its warps fetch, total, place and scan different tiles at once
// (ring.cuh). A tile is placed by adding the totals of the tiles between its block's last tile and this one.
// Nobody waits for a prefix that is itself waited for: totals depend on nothing but the input, so there is no chain of
// prefixes from tile to tile, and the trips through L2 pass while earlier tiles are scanned.
//
// Traffic   n reads by bulk copies and n writes; 132 words of totals a tile.
// Order     of sums that round: depends on which block drew which tile.
// Source    decoupled look-back: Merrill and Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016.
#pragma once
#include "scan/12_wave.cuh"
#include "scan/ring.cuh"

namespace upsweep::ladders::scan {

template <class Shape, class T, class Op>
struct Pipeline {
  using A = Total<T, Op>;
  static constexpr unsigned stages = Shape::stages, elements = Shape::packs * Pack<T>::size;
  static constexpr unsigned shared_bytes = stages * Shape::packs * 16;
  struct Shared {
    typename Ring<Shape>::Shared ring;
    A between[stages];                       // totals of tiles [last_tile, tile)
    A before_warp[stages][Shape::scanners];  // within the tile
  };

  Ring<Shape> ring;
  const Aligned<T>& in;
  T* out;    // in.begin elements before the output
  T* tiles;  // [stages][elements], shared
  Shared& shared;
  Op op;
  unsigned lane = threadIdx.x % warp_size;

  __device__ void fetch(unsigned first) {
    ring.fetch(first, std::size_t(ring.tiles) * words_per<A>, [&](unsigned s, unsigned tile) {
      copy_packs(in, std::size_t(tile) * elements, elements, 0, Op::template neutral<T>(),
                 tiles + std::size_t(s) * elements, &shared.ring.fetched[s]);
    });
  }

  // Adds a tile up, warp by warp of those that will scan it, and tells the other blocks.
  __device__ void total(unsigned turn) {
    ring.for_each_turn(shared.ring.fetched, turn, Shape::totallers, [&](unsigned s, unsigned tile) {
      A sum = Op::template neutral<A>();
      for (unsigned w = 0; w < Shape::scanners && tile < ring.tiles; ++w) {
        if (lane == 0) shared.before_warp[s][w] = sum;
        uint4 rows[Shape::rows];
        read_rows(s, w, rows);
        sum = op(sum, total_rows<T>(rows, op));
      }
      if (tile < ring.tiles && lane == 0)
        put_tagged(ring.state.boxes() + std::size_t(tile) * words_per<A>, shared.ring.call, sum);
      mbarrier_arrive(&shared.ring.placed[s]);
    });
  }

  // Adds up the tiles since this block's last.
  __device__ void place(unsigned turn) {
    ring.for_each_turn(shared.ring.fetched, turn, Shape::placers, [&](unsigned s, unsigned tile) {
      A sum = Op::template neutral<A>();
      if (tile < ring.tiles) sum = take_totals<A>(ring.state, shared.ring.call, shared.ring.last_tile[s], tile, op);
      if (lane == 0) shared.between[s] = sum;
      mbarrier_arrive(&shared.ring.placed[s]);
    });
  }

  __device__ void scan(unsigned warp, bool inclusive) {
    A before_tile = Op::template neutral<A>();
    ring.for_each_turn(shared.ring.placed, 0, 1, [&](unsigned s, unsigned tile) {
      if (tile == ring.tiles) return;
      before_tile = op(before_tile, shared.between[s]);
      const A left = op(before_tile, shared.before_warp[s][warp]);
      uint4 rows[Shape::rows];
      A before[Shape::rows];
      read_rows(s, warp, rows);
      mbarrier_arrive(&shared.ring.freed[s]);
      scan_rows<T>(rows, before, op);
      finish_rows<T>(rows, before, left, inclusive, op);
      const unsigned first = warp * Shape::rows * row_elements<T> + lane * Pack<T>::size;
      store_rows(out, in, std::size_t(tile) * elements + first, rows);
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
                    TaggedBoxes state, std::size_t n, unsigned tiles, bool inclusive, Op op) {
  using P = Pipeline<Shape, T, Op>;
  __shared__ typename P::Shared shared;
  const Aligned<T> input(in, n);
  P pipeline{{shared.ring, state, tiles}, input, out - input.begin, dynamic_shared<T>(), shared, op};
  unsigned warp = threadIdx.x / warp_size, first = 0;
  allow_next_launch();
  if (warp == Shape::threads / warp_size - 1)  // the warp that fetches
    first = pipeline.ring.begin(2, [&] {       // placing a tile takes its total and its place
      const std::size_t probably = std::size_t(blockIdx.x) * P::elements;
      if (input.has(probably, P::elements)) prefetch_l2(input.base + probably, P::elements * sizeof(T));
    });
  __syncthreads();

  if (warp < Shape::scanners) return pipeline.scan(warp, inclusive);
  warp -= Shape::scanners;
  if (warp < Shape::totallers) return pipeline.total(warp);
  warp -= Shape::totallers;
  if (warp < Shape::placers) return pipeline.place(warp);
  pipeline.fetch(first);
}

struct pipeline {
  static constexpr Story story{
      .idea = "one block a multiprocessor; its warps fetch, total, place and scan different tiles at once",
      .prediction = "0.95 of the copy ceiling when large; up to 2 MB it calls wave",
      .limits = "any n up to 2^32 tiles; fixed shape; 192 KB of shared memory a block",
      .source = "after Merrill and Garland, decoupled look-back, 2016"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    // Measured: from 2^20 words of 4 bytes on, pipeline wins. With a grid of the caller's it takes any n, so that
    // checks can.
    if (a.n * sizeof(T) <= 2 * 1024 * 1024 && a.params.get("grid", 0) == 0) return wave::run<T, Op>(a);
    // Tiles of 32 KB. Of some 30 shapes on an H200 the best or within 1 % of it at every power of two from 2^20 on
    // (docs/notes/scan.md). Few warps with many loads each; and one that places, because polls of more slow L2 down.
    return start<RingShape<16, 4, 6>>(a);
  }

  template <class Shape, class T, class Op>
  static Status start(const Args<T, Op>& a) {
    if (a.n == 0) return {};
    const std::size_t tiles = ceil_div(Aligned<T>(a.in, a.n).end, Shape::packs * Pack<T>::size);
    const auto grid = static_cast<unsigned>(a.params.get("grid", resident_blocks(tiles)));
    const TaggedBoxes state = boxes_for<Total<T, Op>>(*a.workspace, tiles);
    if (!state.words) return no_memory_for_totals;
    return launch(pipeline_kernel<Shape, T, Op>,
                  {.grid = grid,
                   .block = Shape::threads,
                   .shared_bytes = Pipeline<Shape, T, Op>::shared_bytes,
                   .overlap = true,
                   .stream = a.stream},
                  a.in, a.out, state, a.n, unsigned(tiles), a.inclusive, a.op);
  }
};

}  // namespace upsweep::ladders::scan

// segmented_scan/pipeline: scan's pipeline, with the bits of a tile beside it in the ring.
//
// The same jobs (kernel/warp_pipeline.h). The descriptor that a total is stored in tells whether a segment begins in
// the tile, and placing a tile adds only the totals since the last head.
//
// Traffic   heads; n reads by bulk copies and n writes; 2 times one bit; 264 words of totals per tile.
// Order     depends on which block drew which tile; matters only for sums that round.
// Source    as scan's pipeline; Sengupta, Harris, Garland, Efficient Parallel Scan Algorithms for GPUs, 2008.
#pragma once
#include "kernel/warp_pipeline.h"
#include "ladders/segmented_scan/choose.h"
#include "ladders/segmented_scan/segments.cuh"

namespace upsweep::ladders::segmented_scan {

// Warp-wide: returns the total of tiles [from, to), at most Each * 32, to every lane.
template <unsigned Each, class T, class Op>
__device__ __forceinline__ Run<T> run_of_few(const Descriptors& descriptors, unsigned epoch, unsigned from, unsigned to,
                                             Op op) {
  const LaneTiles<Each> tiles(from, to);
  T value[Each];
  bool head[Each], published;
  do {
    published = true;
#pragma unroll
    for (unsigned k = 0; k < Each; ++k) {
      T total, prefix;
      const bool has_total = try_load_tagged(total_words<T>(descriptors, tiles(k)), epoch, total);
      head[k] = try_load_tagged(prefix_words<T>(descriptors, tiles(k)), epoch, prefix);
      value[k] = head[k] ? prefix : total;
      published &= has_total || head[k];
    }
    if (!published) spin_hint();
  } while (!published);
  __syncwarp();
  unsigned last = 0;  // tile with a head, counted from 1; 0: none
#pragma unroll
  for (unsigned k = 0; k < Each; ++k) {
    const unsigned heads = __ballot_sync(all_lanes, head[k] && tiles.has(k));
    if (heads) last = from + k * warp_size + last_head(heads, warp_size - 1) + 1;
  }
  T sum = Op::template neutral<T>();
#pragma unroll
  for (unsigned k = 0; k < Each; ++k)
    if (tiles.has(k) && tiles(k) + 1 >= last) sum = op(sum, value[k]);
  return {shuffle(warp_reduce(sum, op), 0), last != 0};
}

template <class Shape, class T, class Op>
struct SegmentedJobs {
  static constexpr unsigned threads = Shape::threads, stages = Shape::stages;
  static constexpr unsigned elements = Shape::packs * Pack<T>::size, words = elements / 32;
  static constexpr unsigned shared_bytes = stages * (Shape::packs * 16 + words * 4);
  static_assert(commutes<Op>, "totals are added in any order");
  using Pipeline = ScanPipeline<Shape, /*copies*/ 2>;
  struct Shared {
    typename Pipeline::Shared ring;
    std::uint64_t placed[stages];                 // mbarriers
    Run<T> between[stages];                       // total of tiles [last_tile, tile)
    Run<T> before_warp[stages][Shape::scanners];  // within the tile
  };

  Pipeline pipeline;
  const Aligned<T>& in;
  const unsigned* heads;  // [tiles][words], head bits
  T* out;                 // in.begin elements before the output
  T* tiles;               // [stages][elements], shared
  unsigned* bits;         // [stages][words], shared
  Shared& shared;
  Op op;
  unsigned lane = threadIdx.x % warp_size;

  __device__ void prepare() {
    init_barriers(shared.placed, 2 * warp_size);  // by total and by place
    prefetch_first_tile(in, elements);
  }

  __device__ void fetch(unsigned step, unsigned tile) {
    const unsigned s = step % stages;
    std::uint64_t* const fetched = &shared.ring.fetched[s];
    if (lane == 0) {
      mbarrier_arrive_expect(fetched, words * 4);
      bulk_copy(bits + s * words, heads + std::size_t(tile) * words, words * 4, fetched);
    }
    fetch_packs(in, std::size_t(tile) * elements, elements, 0, Op::template neutral<T>(),
                tiles + std::size_t(s) * elements, fetched);
  }

  // Adds up a tile, in the parts that the scanning warps will take, and publishes the total.
  __device__ void total(unsigned warp) {
    pipeline.for_each_tile(shared.ring.fetched, warp, Shape::totallers, [&](unsigned step, unsigned tile) {
      const unsigned s = step % stages;
      Run<T> sum = Joined<Op>::template neutral<Run<T>>();
      for (unsigned w = 0; w < Shape::scanners && tile < pipeline.tiles; ++w) {
        if (lane == 0) shared.before_warp[s][w] = sum;
        uint4 rows[Shape::rows];
        unsigned row_heads[Shape::rows];
        read_rows(s, w, rows, row_heads);
        sum = Joined<Op>{op}(sum, total_rows<T>(rows, row_heads, op));
      }
      if (tile < pipeline.tiles && lane == 0) publish(pipeline.descriptors, tile, shared.ring.epoch, sum);
      mbarrier_arrive(&shared.placed[s]);
    });
  }

  // Adds up the totals since this block's last tile.
  __device__ void place(unsigned warp) {
    constexpr unsigned many = polls_per_lane;
    pipeline.for_each_tile(shared.ring.fetched, warp, Shape::placers, [&](unsigned step, unsigned tile) {
      const unsigned s = step % stages;
      Run<T> sum = Joined<Op>::template neutral<Run<T>>();
      if (tile < pipeline.tiles)
        for (unsigned from = shared.ring.last_tile[s]; from < tile; from += many * warp_size) {
          const unsigned to = tile - from < many * warp_size ? tile : from + many * warp_size;
          sum = Joined<Op>{op}(sum, run_of_few<many, T>(pipeline.descriptors, shared.ring.epoch, from, to, op));
        }
      if (lane == 0) shared.between[s] = sum;
      mbarrier_arrive(&shared.placed[s]);
    });
  }

  __device__ void scan(unsigned warp, bool inclusive) {
    Run<T> before_tile = Joined<Op>::template neutral<Run<T>>();
    pipeline.for_each_tile(shared.placed, 0, 1, [&](unsigned step, unsigned tile) {
      if (tile == pipeline.tiles) return;
      const unsigned s = step % stages;
      before_tile = Joined<Op>{op}(before_tile, shared.between[s]);
      const T left = Joined<Op>{op}(before_tile, shared.before_warp[s][warp]).value;
      uint4 rows[Shape::rows];
      unsigned row_heads[Shape::rows];
      BeforePacks<T, Shape::rows> before;
      read_rows(s, warp, rows, row_heads);
      mbarrier_arrive(&shared.ring.freed[s]);
      scan_rows(rows, row_heads, before, op);
      finish_rows(rows, row_heads, before, left, inclusive, op);
      const unsigned first = warp * Shape::rows * row_elements<T> + lane * Pack<T>::size;
      store_rows(out, in, std::size_t(tile) * elements + first, rows);
    });
  }

  __device__ void read_rows(unsigned s, unsigned warp, uint4 (&rows)[Shape::rows], unsigned (&row_heads)[Shape::rows]) {
    const auto* const packs = reinterpret_cast<const uint4*>(tiles) + std::size_t(s) * Shape::packs;
    const HeadBits tile_bits{bits + s * words};
#pragma unroll
    for (unsigned r = 0; r < Shape::rows; ++r) {
      const unsigned pack = (warp * Shape::rows + r) * warp_size + lane;
      rows[r] = packs[pack];
      row_heads[r] = tile_bits.at(pack * Pack<T>::size, Pack<T>::size);
    }
  }
};

template <class Shape, class T, class Op>
__global__ void __launch_bounds__(Shape::threads, 1)
    pipeline_kernel(const T* in,            // [n]
                    const unsigned* heads,  // [tiles][words], head bits
                    T* out,                 // [n]
                    Descriptors descriptors, std::size_t n, unsigned tiles, bool inclusive, Op op) {
  using Jobs = SegmentedJobs<Shape, T, Op>;
  __shared__ typename Jobs::Shared shared;
  const Aligned<T> input(in, n);
  T* const ring = dynamic_shared<T>();
  auto* const bits = reinterpret_cast<unsigned*>(ring + Jobs::stages * Jobs::elements);
  Jobs jobs{{shared.ring, descriptors, tiles}, input, heads, out - input.begin, ring, bits, shared, op};
  run_scan<Shape>(jobs, 2 * std::size_t(tiles) * words_per<T>, inclusive);
}

// Scan's tiles, but scanned by twice as many warps, because each pack takes more work: of 14 shapes on an H200, best
// at 2^22 to 2^28 (docs/notes/scan.md).
using PipelineTiles = ScanShape</*Rows*/ 8, /*Scanners*/ 8, /*Stages*/ 6>;

struct pipeline {
  static constexpr Needs needs = pipeline_needs;
  static constexpr Story story{
      .idea = "scan's pipeline, with the bits of a tile beside it in the ring",
      .prediction = "0.9 of the copy ceiling when large: the bits are 3 % more traffic",
      .limits = "any n up to 2^32 tiles; fixed shape; 216 KB of shared memory per block",
      .source = "after Merrill and Garland 2016; Sengupta, Harris, Garland 2008"};
  static constexpr Coverage coverage = Coverage::widths;
  static constexpr std::size_t ring_bytes = PipelineTiles::ring_bytes;
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    return start<PipelineTiles>(a);
  }

  template <class Shape, class T, class Op>
  static Status start(const Args<T, Op>& a) {
    using Jobs = SegmentedJobs<Shape, T, Op>;
    if (a.n == 0) return {};
    const Aligned<T> input(a.in, a.n);
    const std::size_t tiles = ceil_div(input.end, Jobs::elements);
    auto* const bits = static_cast<unsigned*>(a.workspace->scratch(tiles * Jobs::words * sizeof(unsigned)));
    const Descriptors descriptors = descriptors_for<T>(*a.workspace, 2 * tiles);
    if (!bits || !descriptors.words) return no_memory_for_heads;
    if (Status s = make_head_bits(a.heads, bits, input.begin, a.n, a.stream, tiles * Jobs::words); !s) return s;
    return launch_pipeline<Jobs>(pipeline_kernel<Shape, T, Op>, a, tiles, a.in, bits, a.out, descriptors, a.n,
                                 unsigned(tiles), a.inclusive, a.op);
  }
};

}  // namespace upsweep::ladders::segmented_scan

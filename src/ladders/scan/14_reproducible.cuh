// scan/reproducible: the pipeline for float sums, in an order fixed by the elements' indices.
//
// The order is that of the CPU rung of the same name (cpu_reproducible.cpp): a Hillis-Steele scan of each row of 32
// elements, by warp shuffles; tiles of 32 rows, left to right; then the tiles' totals again in rows and tiles, level by
// level.
//
// In this order, the totals since the block's previous tile do not suffice to place a tile. Instead, on each level,
// place() adds the earlier totals in the tile's row of totals and the sums of the earlier rows in its tile of totals.
// An additional role, join(), publishes the sum of each row of totals and of each tile of rows as soon as its terms are
// published. These sums depend only on totals, never on prefixes, so there is no chain of prefixes here either.
//
// Traffic   n reads by bulk copies and n writes of 4 or 8 bytes per lane; about 100 words of sums per group of tiles.
// Order     the same bits as on the CPU, at any grid and alignment.
// Source    as pipeline; Hillis and Steele, Data Parallel Algorithms, 1986 (rows).
#pragma once
#include "kernel/warp.h"
#include "kernel/warp_pipeline.h"
#include "ladders/scan/contract.h"

namespace upsweep::ladders::scan {

inline constexpr unsigned rows_per_tile = 32, tile_size = rows_per_tile * warp_size;  // of the summation order

// Offsets of each level's sums in the descriptors: totals of tiles, and sums of rows of 32 such totals. Level 0 has
// tiles of elements, each higher level has tiles of the totals of the level below. Only whole rows and tiles of totals
// have sums, because no block needs a partial one.
struct Levels {
  static constexpr unsigned count = 3;  // up to 2^40 elements
  std::size_t totals[count], rows[count], end = 0;
  explicit Levels(std::size_t tiles) {
    for (unsigned l = 0; l < count; ++l) {
      totals[l] = end;
      rows[l] = totals[l] + tiles;
      end = rows[l] + tiles / warp_size;
      tiles /= tile_size;
    }
  }
};

// Warp-wide: sums 32 rows. Lane k passes element k of every row, and lane l gets the sum of row l, with neighbours
// added first. Each step halves the number of rows that a lane holds: 31 shuffles in all instead of five per row.
template <unsigned distance = 1, class T>
__device__ __forceinline__ T sum_rows(T (&row)[rows_per_tile]) {
  if constexpr (distance == warp_size) {
    return row[0];
  } else {
    const bool odd = threadIdx.x & distance;
#pragma unroll
    for (unsigned r = 0; r < rows_per_tile / 2 / distance; ++r) {
      const T kept = odd ? row[2 * r + 1] : row[2 * r], given = odd ? row[2 * r] : row[2 * r + 1];
      row[r] = kept + __shfl_xor_sync(all_lanes, given, int(distance));
    }
    return sum_rows<2 * distance>(row);
  }
}

// Warp-wide: returns the sum of the values of the first `count` lanes, left to right, to every lane. The shuffles
// overlap with the chain of additions.
template <class T>
__device__ __forceinline__ T add_lanes(T value, unsigned count) {
  T sum = Sum::neutral<T>();
#pragma unroll
  for (unsigned l = 0; l < warp_size; ++l) {
    const T next = shuffle(value, l);
    if (l < count) sum = sum + next;
  }
  return sum;
}

// The jobs of the pipeline's warps. Each slot of the ring holds a group of tiles.
template <class Shape, class T>
struct ReproducibleJobs {
  using Pipeline = ScanPipeline<Shape>;
  static constexpr unsigned stages = Shape::stages, elements = Shape::packs * Pack<T>::size;
  static constexpr unsigned tiles = elements / tile_size, warp_tiles = tiles / Shape::scanners;
  static constexpr unsigned stage_elements = elements + Pack<T>::size;  // a group may begin inside a pack
  static constexpr unsigned tile_rows = rows_per_tile + 1;              // padded: tiles begin in different banks
  static constexpr unsigned shared_bytes = stages * (stage_elements + tiles * tile_rows) * sizeof(T);
  static constexpr unsigned threads = Shape::threads + warp_size;  // one more warp, for join()
  static_assert(tiles % Shape::scanners == 0 && warp_size % tiles == 0);
  struct Shared {
    typename Pipeline::Shared ring;
    std::uint64_t placed[stages];  // mbarriers
    T before[stages][tiles];       // each tile's prefix
  };

  Pipeline pipeline;
  const T* in;  // [n]
  T* out;       // [n]
  std::size_t n;
  T* groups;      // [stages][stage_elements], shared
  T* before_row;  // [stages][tiles * tile_rows], shared: each row's prefix within its tile
  Shared& shared;
  const Levels& levels;
  Initial<T, Sum> initial;
  unsigned lane = threadIdx.x % warp_size;

  __device__ unsigned long long* descriptor(std::size_t i) const {
    return pipeline.descriptors.array() + i * words_per<T>;
  }

  __device__ void prepare() {
    init_barriers(shared.placed, 3 * warp_size);  // arrivals by total(), place() and join()
    const std::size_t first = std::size_t(blockIdx.x) * elements;
    if (first + elements <= n) prefetch_l2(Aligned<T>(in + first, 0).base, elements * sizeof(T));
  }

  __device__ void fetch(unsigned step, unsigned group) {
    const unsigned s = step % stages;
    const std::size_t first = std::size_t(group) * elements, left = n - first;
    const Aligned<T> part(in + first, left < elements ? left : elements);
    fetch_packs(part, 0, part.begin ? stage_elements : elements, 0, Sum::neutral<T>(),
                groups + std::size_t(s) * stage_elements, &shared.ring.fetched[s]);
  }

  // Computes each row's prefix within its tile, and publishes the tiles' totals.
  __device__ void total(unsigned warp) {
    pipeline.for_each_tile(shared.ring.fetched, warp, Shape::totallers, [&](unsigned step, unsigned group) {
      const unsigned s = step % stages;
      if (group < pipeline.tiles) {
        T row[rows_per_tile];
        for (unsigned t = 0; t < tiles; ++t) {
          read_tile(s, t, row);
          rows_of(s, t)[lane] = sum_rows(row);
        }
        __syncwarp();
        if (lane < tiles) {
          T* const rows = rows_of(s, lane);
#pragma unroll
          for (unsigned r = 0; r < rows_per_tile; ++r) row[r] = rows[r];
          T sum = Sum::neutral<T>();
#pragma unroll
          for (unsigned r = 0; r < rows_per_tile; ++r) {
            rows[r] = sum;
            sum = sum + row[r];
          }
          store_tagged(descriptor(levels.totals[0] + std::size_t(group) * tiles + lane), shared.ring.epoch, sum);
        }
      }
      mbarrier_arrive(&shared.placed[s]);
    });
  }

  // On each level, publishes the sums of the rows and tiles of totals that end with this group.
  __device__ void join() {
    pipeline.for_each_tile(shared.ring.fetched, 0, 1, [&](unsigned step, unsigned group) {
      mbarrier_arrive(&shared.placed[step % stages]);  // the group's number has been read
      if (group == pipeline.tiles) return;
      std::size_t last = (group + std::size_t(1)) * tiles - 1;  // index of the group's last total
#pragma unroll                                                  // one copy per level, so that its offsets are constants
      for (unsigned l = 0; l < Levels::count && last % warp_size == warp_size - 1; ++l) {
        const T row = warp_reduce(take(levels.totals[l] + last - (warp_size - 1) + lane), Sum{});
        last /= warp_size;
        if (lane == 0) store_tagged(descriptor(levels.rows[l] + last), shared.ring.epoch, row);
        if (last % rows_per_tile != rows_per_tile - 1 || l + 1 == Levels::count) return;
        const T tile = add_lanes(take(levels.rows[l] + last - (rows_per_tile - 1) + lane), rows_per_tile);
        last /= rows_per_tile;
        if (lane == 0) store_tagged(descriptor(levels.totals[l + 1] + last), shared.ring.epoch, tile);
      }
    });
  }

  // Computes each tile's prefix, level by level, from the sums of the earlier rows and the earlier totals in its row.
  __device__ void place(unsigned warp) {
    pipeline.for_each_tile(shared.ring.fetched, warp, Shape::placers, [&](unsigned step, unsigned group) {
      const unsigned s = step % stages;
      if (group < pipeline.tiles) {
        const std::size_t first = std::size_t(group) * tiles;
        std::size_t total[Levels::count];  // per level, the index of the total that includes `first`
#pragma unroll
        for (unsigned l = 0; l < Levels::count; ++l) total[l] = l ? total[l - 1] / tile_size : first;
        const auto in_row = [&](unsigned l) { return unsigned(total[l] % warp_size) + (l ? 0 : tiles); };
        const auto in_tile = [&](unsigned l) { return unsigned(total[l] / warp_size % rows_per_tile); };
        // Wait for all sums in one round trip to L2. Idle lanes poll a word that this block publishes itself.
        T sums[2 * Levels::count];
        wait_tagged<2 * Levels::count>(
            pipeline.descriptors.array(), shared.ring.epoch,
            [&](unsigned k) {
              const unsigned l = k / 2;
              const std::size_t row = total[l] / warp_size;
              if (k % 2 == 0)
                return lane < in_row(l) ? levels.totals[l] + row * warp_size + lane : levels.totals[0] + first;
              return lane < in_tile(l) ? levels.rows[l] + row / rows_per_tile * rows_per_tile + lane
                                       : levels.totals[0] + first;
            },
            sums);
        __syncwarp();
        T before = Sum::neutral<T>();
#pragma unroll
        for (unsigned l = Levels::count; l-- > 0;) {
          if (l > 0 && total[l] == 0) continue;  // no earlier totals on this level
          const T upto = warp_scan(lane < in_row(l) ? sums[2 * l] : Sum::neutral<T>(), Sum{});
          const T in_order = before + (add_lanes(sums[2 * l + 1], in_tile(l)) + from_left_lane(upto, Sum{}));
          if (l > 0)
            before = shuffle(in_order, in_row(l));
          else if (const unsigned t = lane - unsigned(first % warp_size); t < tiles)
            shared.before[s][t] = initial.value + in_order;
        }
      }
      mbarrier_arrive(&shared.placed[s]);
    });
  }

  __device__ void scan(unsigned warp, bool inclusive) {
    pipeline.for_each_tile(shared.placed, 0, 1, [&](unsigned step, unsigned group) {
      if (group == pipeline.tiles) return;
      const unsigned s = step % stages;
      T row[warp_tiles][rows_per_tile], before_rows[warp_tiles], before[warp_tiles];
#pragma unroll
      for (unsigned t = 0; t < warp_tiles; ++t) {
        const unsigned tile = warp * warp_tiles + t;
        read_tile(s, tile, row[t]);
        before_rows[t] = rows_of(s, tile)[lane];
        before[t] = shared.before[s][tile];
      }
      mbarrier_arrive(&shared.ring.freed[s]);
#pragma unroll
      for (unsigned t = 0; t < warp_tiles; ++t)
        scan_tile(row[t], before_rows[t], before[t], (std::size_t(group) * tiles + warp * warp_tiles + t) * tile_size,
                  inclusive);
    });
  }

  // Scans one tile and stores it. If exclusive, each lane stores to its right neighbour's position; the last lane
  // stores the first element of each row, whose prefix within the row is empty.
  __device__ void scan_tile(T (&row)[rows_per_tile], T before_rows, T before, std::size_t first, bool inclusive) {
    const bool none = !inclusive && lane == warp_size - 1, whole = first + tile_size <= n;
    const unsigned to = inclusive ? lane : (lane + 1) % warp_size;
    warp_scans(row, Sum{}, [&](unsigned) { return lane; });
#pragma unroll
    for (unsigned r = 0; r < rows_per_tile; ++r) {
      const T before_this = shuffle(before_rows, r);
      const T sum = before + (before_this + (none ? Sum::neutral<T>() : row[r]));
      if (const std::size_t i = first + r * warp_size + to; whole || i < n) out[i] = sum;
    }
    if (none && first == 0) out[0] = initial.alone();
  }

  __device__ void read_tile(unsigned s, unsigned tile, T (&row)[rows_per_tile]) {
    const T* const from = groups + std::size_t(s) * stage_elements + Aligned<T>(in, n).begin + tile * tile_size + lane;
#pragma unroll
    for (unsigned r = 0; r < rows_per_tile; ++r) row[r] = from[r * warp_size];
  }
  __device__ T* rows_of(unsigned s, unsigned tile) { return before_row + (s * tiles + tile) * tile_rows; }
  __device__ T take(std::size_t i) {
    T value[1];
    wait_tagged<1>(
        pipeline.descriptors.array(), shared.ring.epoch, [&](unsigned) { return i; }, value);
    __syncwarp();
    return value[0];
  }
};

template <class Shape, class T>
__global__ void __launch_bounds__(ReproducibleJobs<Shape, T>::threads, 1)
    reproducible_kernel(const T* in,  // [n]
                        T* out,       // [n]
                        Descriptors descriptors, Levels levels, std::size_t n, unsigned groups, bool inclusive,
                        Initial<T, Sum> initial) {
  using Jobs = ReproducibleJobs<Shape, T>;
  __shared__ typename Jobs::Shared shared;
  T* const ring = dynamic_shared<T>();
  Jobs jobs{{shared.ring, descriptors, groups},         in,     out,    n,      ring,
            ring + Jobs::stages * Jobs::stage_elements, shared, levels, initial};
  run_scan<Shape>(jobs, levels.end * words_per<T>, inclusive, role<1>([&](unsigned) { jobs.join(); }));
}

struct reproducible {
  static constexpr bool reproducible_bits = true;
  static constexpr bool takes_initial = true;
  static constexpr std::size_t ring_bytes = 96 * 4 * warp_size * 16;  // see run()
  static constexpr Needs needs{{Feature::bulk_copy}, 204'160};
  static constexpr Story story{
      .idea = "the pipeline, with sums joined in rows and tiles fixed by index",
      .prediction = "0.85 of the copy ceiling at large n: six shuffles per 32 elements leave little slack",
      .guarantees = "the same bits on every backend, at any grid and alignment",
      .limits = "sums of f32 and f64; any n up to 2^40; fixed shape; 200 KB of shared memory per block",
      .source = "after Merrill and Garland 2016; Hillis and Steele 1986"};
  static constexpr Coverage coverage = Coverage::widths;
  template <class T, class Op>
  static constexpr bool supports = std::is_floating_point_v<T>&& std::is_same_v<Op, Sum>;

  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    // One tile for each of four warps: within 0.5 % of the best of 15 shapes on an H200 (docs/notebook/scan.md).
    constexpr unsigned rows = rows_per_tile / Pack<T>::size;
    return start<ScanShape<rows, /*Scanners*/ 4, /*Stages*/ 96 / rows>>(a);
  }

  template <class Shape, class T, class Op>
  static Status start(const Args<T, Op>& a) {
    using Jobs = ReproducibleJobs<Shape, T>;
    if (a.n == 0) return {};
    const std::size_t groups = ceil_div(a.n, Jobs::elements);
    const Levels levels(groups * Jobs::tiles);
    const Descriptors descriptors = descriptors_for<T>(*a.workspace, levels.end);
    if (!descriptors.words) return no_memory_for_totals;
    return launch_pipeline<Jobs>(reproducible_kernel<Shape, T>, a, groups, a.in, a.out, descriptors, levels, a.n,
                                 unsigned(groups), a.inclusive, a.initial);
  }
};

}  // namespace upsweep::ladders::scan

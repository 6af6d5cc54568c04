// partition/cluster_tiles: 4096 to 32768 buckets in one pass, whose tiles the blocks of a cluster sort together.
//
// A block's tile has less than one key of each of 32768 buckets, and each would be written as a sector of its own. Here
// the blocks of a cluster have a tile together: 2 to 16 of them, one for every 2048 buckets, so that a run has 11 keys,
// as in passes_in_tile. The tile is sorted by one field of a bucket's number after another. For each, every block ranks
// the keys that it has and puts them in order, all blocks tell each other how many they have of each value, and every
// key goes to its place in the tile, which is in the shared memory of whichever block: in runs of neighbouring words,
// because they are in order already.
//
// Traffic   keys read twice and written once, and two or three times through shared memory of other blocks; 4 bytes per
//           tile and bucket written and read, 9 % of a tile's keys.
// Order     stable.
// Source    NVIDIA, Hopper Tuning Guide (distributed shared memory); the rest is passes_in_tile's.
#pragma once
#include "kernel/cluster.h"
#include "kernel/run_rung.h"
#include "ladders/partition/cluster_table.cuh"
#include "ladders/partition/field_places.cuh"
#include "ladders/partition/fields.cuh"
#include "ladders/partition/lane_tiles.cuh"
#include "ladders/partition/tile_queue.cuh"

namespace upsweep::ladders::partition {

inline constexpr unsigned most_cluster = 16;  // blocks

// A block's part of a cluster's tile: two of them and the ranks take all the shared memory. An odd number of keys per
// lane, so that lanes that read their own use all banks.
template <class T>
struct ClusterTiles {
  static constexpr unsigned warps = 12, block = warps * warp_size;
  static constexpr unsigned keys = sizeof(T) == 4 ? 57 : 27;  // per lane
  static constexpr unsigned part = block * keys;
  using Places = FieldPlaces<warps, keys>;

  struct Memory {
    alignas(16) T sorted[part];
    alignas(16) T staged[part];
    typename Places::Memory ranks;
    unsigned counts[most_cluster][Places::most_values];  // of each block's keys, by value
    unsigned shift[Places::most_values];  // of each value's keys: from places in the part to those in the tile
    std::uint64_t arrived;                // mbarrier
    ClusterDraws::Memory drawn;
  };
};

// By the first warp, once the counts of all blocks are known: sets m.shift.
template <class Memory>
__device__ void find_shifts(Memory& m, unsigned values, unsigned rank, unsigned blocks) {
  const unsigned v = 2 * threadIdx.x;  // and the next one
  uint2 before{0, 0}, own{0, 0}, all{0, 0};
  for (unsigned r = 0; r < blocks && v < values; ++r) {
    const uint2 count = *reinterpret_cast<const uint2*>(&m.counts[r][v]);
    if (r < rank) before.x += count.x, before.y += count.y;
    if (r == rank) own = count;
    all.x += count.x, all.y += count.y;
  }
  const unsigned both = all.x + all.y, own_both = own.x + own.y;
  const unsigned start = warp_scan(both, Sum{}) - both, own_start = warp_scan(own_both, Sum{}) - own_both;
  if (v >= values) return;
  m.shift[v] = start + before.x - own_start;
  m.shift[v + 1] = start + all.x + before.y - own_start - own.x;
}

// `next_tile` is 0, and left so; `totals` is set to 0; `nothing` is 0, as FieldPlaces wants it.
template <class Tiles, class T, class O>
__global__ void __launch_bounds__(Tiles::block, 1)
    cluster_tiles_kernel(Input<T, O> in, T* out, Fields<T, O> fields, unsigned blocks, TileTable table,
                         unsigned* next_tile, unsigned* totals, T nothing) {
  using Places = typename Tiles::Places;
  constexpr unsigned block = Tiles::block, keys_per_lane = Tiles::keys;
  constexpr unsigned at_once = largest_divisor(keys_per_lane, 20);  // look-ups that wait together
  auto& m = *dynamic_shared<typename Tiles::Memory>();
  const unsigned t = threadIdx.x, rank = cluster_rank();
  const TileReader<T, Tiles::part> keys_in{in.keys, in.n};
  // The place in the part of the key that this thread sends k-th. Each block begins elsewhere, or all would send to the
  // first one, then to the second.
  const auto sent = [t, turn = rank * keys_per_lane / blocks](unsigned k) {
    return (k + turn < keys_per_lane ? k + turn : k + turn - keys_per_lane) * block + t;
  };
  const auto exists = [&](unsigned part) { return part * std::size_t(Tiles::part) < in.n; };
  const auto fetch = [&](unsigned part) {  // by one thread
    if (!exists(part)) return;
    mbarrier_arrive_expect(&m.arrived, keys_in.fetched_bytes(part));
    keys_in.fetch(part, m.staged, &m.arrived);
  };

  allow_next_launch();
  cluster_sync();  // all blocks have begun, so that one may write to the memory of the others
  wait_for_previous();
  if (blockIdx.x == 0)
    for (unsigned b = t; b < table.row; b += block) totals[b] = 0;
  const GroupQueue queue{next_tile, table.tiles, gridDim.x / blocks};
  unsigned tile = blockIdx.x / blocks, phase = 0;  // of m.arrived
  if (t == 0) {
    mbarrier_init(&m.arrived, 1);
    fetch(tile * blocks + rank);
  }
  ClusterDraws draws(m.drawn, queue, blocks);
  cluster_sync();
  for (unsigned round = 0; tile < table.tiles; ++round) {
    const unsigned next = draws.of_round(round + 1), part = tile * blocks + rank;
    // 1. This block's part of the tile; what is past the end is in the last bucket, behind all others.
    T keys[keys_per_lane];
#pragma unroll
    for (T& key : keys) key = in.buckets.last_key();
    if (exists(part)) {
      mbarrier_wait(&m.arrived, phase++ % 2);
      keys_in.template load<Places>(part, m.staged, in.buckets.last_key(), keys);
    }
    for (unsigned f = 0; f < fields.count; ++f) {
      const Buckets<T, O> field = fields.field[f];
      // 2. In order by a field.
      const auto all_counted = [&] {
        if (f > 0) return;
        if (t == 0) fetch(next * blocks + rank);
        draws.start();
      };
      Places::place(m.ranks, keys, field, field.count, nothing, all_counted,
                    [&](unsigned k, unsigned place) { m.sorted[place] = keys[k]; });
      __syncthreads();
#pragma unroll
      for (unsigned k = 0; k < keys_per_lane; ++k) keys[k] = m.sorted[sent(k)];
      // 3. Each key to its place in the tile.
      for (unsigned i = t; i < field.count * blocks; i += block) {
        const unsigned value = i % field.count;
        store_in_cluster(&m.counts[rank][value], i / field.count, Places::count(m.ranks, value));
      }
      if (f == 0) draws.look();
      cluster_sync();  // all keys are in registers
      if (t < warp_size) find_shifts(m, field.count, rank, blocks);
      __syncthreads();
#pragma unroll
      for (unsigned from = 0; from < keys_per_lane; from += at_once) {
        unsigned place[at_once];
#pragma unroll
        for (unsigned k = 0; k < at_once; ++k) place[k] = sent(from + k) + m.shift[field(keys[from + k])];
#pragma unroll
        for (unsigned k = 0; k < at_once; ++k)
          store_in_cluster(&m.sorted[place[k] % Tiles::part], place[k] / Tiles::part, keys[from + k]);
      }
      if (f + 1 == fields.count) draws.finish(round, tile);
      cluster_sync();
      if (f + 1 < fields.count) load_own<Places>(m.sorted, keys);
    }
    // 4. Neighbouring places of a bucket to neighbouring ones of the output.
    const unsigned first = rank * Tiles::part;
    const std::size_t left = in.n - std::size_t(tile) * blocks * Tiles::part;
    const unsigned end = left < first                 ? 0
                         : left - first < Tiles::part ? static_cast<unsigned>(left - first)
                                                      : Tiles::part;
    for (unsigned from = t; from < end; from += at_once * block) {
      unsigned to[at_once];
#pragma unroll
      for (unsigned k = 0; k < at_once; ++k) {
        const unsigned own = from + k * block < end ? from + k * block : end - 1;
        keys[k] = m.sorted[own];
        to[k] = first + own + table.place(tile, in.buckets(keys[k]));
      }
#pragma unroll
      for (unsigned k = 0; k < at_once; ++k)
        if (from + k * block < end) out[to[k]] = keys[k];
    }
    tile = next;
  }
}

struct overlapped_writes;
extern const Rung kernel_overlapped_writes_rung;

struct cluster_tiles {
  static constexpr Story story{
      .idea = "4096 to 32768 buckets in one pass: the blocks of a cluster sort a tile together",
      .prediction = "60 cycles per 32 keys, and a count of 0.3 ms: 2.4 ms for 2^28 u32 keys, more than two passes",
      .guarantees = "stable",
      .limits =
          "4096 to 32768 buckets by a digit, keys alone, below 2^32 keys, else overlapped_writes; clusters of up to 16 "
          "blocks; block size fixed",
      .source = "NVIDIA, Hopper Tuning Guide"};
  static constexpr Coverage coverage = Coverage::widths;
  // Buckets for each block of a cluster: as many as passes_in_tile has at most.
  static constexpr unsigned own_buckets = most_buckets / most_cluster;
  template <class T, class O>
  static bool delegates(const Args<T, O>& a) {
    return !std::is_same_v<O, By<Bucketing::digit>> || a.in.buckets.count < 2 * own_buckets || a.values.bytes > 0 ||
           wide(a.in.n);
  }
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    if constexpr (std::is_same_v<O, By<Bucketing::digit>>)
      if (!delegates(a)) return start(a);
    return run_rung<overlapped_writes, kernel_overlapped_writes_rung>(a);
  }

 private:
  template <class T, class O>
  static Status start(const Args<T, O>& a) {
    using Tiles = ClusterTiles<T>;
    if (a.tuning.block && a.tuning.block != Tiles::block)
      return {Code::unsupported, 0, "this rung has blocks of 384 threads"};
    const unsigned blocks = a.in.buckets.count / own_buckets;
    unsigned* const totals = a.workspace->counters(most_buckets + 1);
    if (!totals) return no_memory;
    TileTable table;
    if (Status s = make_cluster_table<Tiles::part>(a, blocks, totals, table); !s || a.in.n == 0) return s;
    const unsigned most = a.tuning.grid_or(device_limits().multiprocessors) / blocks;
    const unsigned clusters = most < 1 ? 1 : most < table.tiles ? most : table.tiles;
    return launch(cluster_tiles_kernel<Tiles, T, O>,
                  {.grid = clusters * blocks,
                   .block = Tiles::block,
                   .shared_bytes = sizeof(typename Tiles::Memory),
                   .cluster = blocks,
                   .overlap = true,
                   .stream = a.stream},
                  a.in, a.keys, Fields<T, O>(a.in.buckets), blocks, table, totals + most_buckets, totals, T(0));
  }
};

}  // namespace upsweep::ladders::partition

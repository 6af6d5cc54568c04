// Tiles that take all the shared memory of a multiprocessor: two parts, one in which elements arrive, and one in which
// the keys are ranked and sorted.
#pragma once
#include "ladders/partition/field_places.cuh"
#include "ladders/partition/lane_tiles.cuh"
#include "ladders/partition/tile_table.cuh"

namespace upsweep::ladders::partition {

// Twelve warps with 60 keys of 4 bytes per lane: 168 registers hold the keys and their places. Of 2^28 keys into 2048
// buckets, 12 x 60, 12 x 52, 16 x 44, 16 x 36, 20 x 36 and 24 x 28 take 1744, 1813, 1775, 1869, 1934 and 2056 us on an
// H200.
template <class T, unsigned value_bytes>
struct LargeTiles : LaneTiles<T, value_bytes, 12> {
  using Key = T;
  using Places = FieldPlaces<LargeTiles::warps, LargeTiles::keys>;
  using KeyReader = TileReader<T, LargeTiles::tile>;
  using ValueReader = TileReader<typename LargeTiles::Value, LargeTiles::tile>;

  struct Memory {
    union {
      typename Places::Memory ranks;
      uint4 sorted[LargeTiles::bytes / 16];  // keys
    };
    uint4 staged[LargeTiles::bytes / 16];  // keys, then values
    TileTable::Memory rows;
    uint4 place[TileTable::most_buckets / 4];  // in the output, of a bucket's first key, less its place in the tile
    std::uint64_t arrived;                     // mbarrier
    unsigned next;                             // tile
  };
};

// What a block reads. Each thread has one; all but wait() are for one thread.
template <class Tiles>
struct LargeTileInput {
  typename Tiles::KeyReader keys;
  typename Tiles::ValueReader values;
  const TileTable& table;
  typename Tiles::Memory& m;
  unsigned phase = 0;  // of m.arrived

  // A tile's keys and its rows of the table; nothing of a tile that does not exist.
  __device__ void fetch_keys(unsigned tile) const {
    if (tile >= table.tiles) return;
    mbarrier_arrive_expect(&m.arrived, keys.fetched_bytes(tile) + table.fetched_bytes());
    keys.fetch(tile, m.staged, &m.arrived);
    table.fetch(tile, m.rows, &m.arrived);
  }
  __device__ void fetch_values(unsigned tile) const {
    mbarrier_arrive_expect(&m.arrived, values.fetched_bytes(tile));
    values.fetch(tile, m.staged, &m.arrived);
  }
  // Lets a tile's keys wait in L2.
  __device__ void prefetch_keys(unsigned tile) const {
    if (tile >= table.tiles) return;
    if (const unsigned bytes = keys.fetched_bytes(tile)) prefetch_l2(keys.all + std::size_t(tile) * Tiles::tile, bytes);
  }
  // Waits for what was fetched last.
  __device__ void wait() { mbarrier_wait(&m.arrived, phase++ % 2); }
};

}  // namespace upsweep::ladders::partition

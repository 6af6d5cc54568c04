// A persistent block's part of a multisplit into up to 256 buckets, on GPUs without bulk copies: threads load their
// keys directly.
//
// tile_partition.h copies the next tile to shared memory while the current one is written. Here the next tile is loaded
// into registers, which are free once the current tile is sorted in shared memory. Lanes are matched by atomics
// (WarpMatch), in the memory in which the tile is then sorted.
#pragma once
#include "kernel/multisplit/concepts.h"
#include "kernel/multisplit/match_ranks.h"
#include "kernel/multisplit/tiles.h"

namespace upsweep::multisplit {

// The shape of these tiles. `words`: registers per thread for its keys, or for its values; `blocks`: resident blocks
// per multiprocessor.
template <class T, unsigned value_bytes, unsigned words, unsigned blocks>
struct LoadedTiles {
  static constexpr unsigned widest = widest_of<T, value_bytes>;
  static constexpr unsigned keys = words * 4 / widest, block = max_counted, blocks_per_sm = blocks;
  static constexpr unsigned tile = block * keys, bytes = tile * widest;
  using Value = ValueOf<value_bytes>;
  using Ranks = MatchRanks<keys, false>;
};

// For large inputs. With two resident blocks of 256 threads, a thread has 128 registers, and the tiles fit in 100 KB of
// shared memory. Larger tiles have fewer predecessors to wait for, but 48 words spill, and with values a larger tile
// delays its successors more. Sorts of 2^24 keys of 4 bytes, by code for 8.0 on an H200, in us:
//   words          24    32    40    48
//   keys alone    470   436   428   425
//   with values   580   616
template <class T, unsigned value_bytes>
using LargeLoadedTiles = LoadedTiles<T, value_bytes, value_bytes ? 24 : 40, 2>;
// For inputs that make too few large tiles.
template <class T, unsigned value_bytes>
using SmallLoadedTiles = LoadedTiles<T, value_bytes, 16, 3>;

// A block's shared memory. Offset is the type of scatter offsets.
template <class Offset, class Tiles, class T, bool has_values, class Lookup>
struct LoadedTilesMemory {
  static constexpr bool with_values = has_values;
  union {
    typename Tiles::Ranks::Memory ranks;
    alignas(16) std::uint8_t sorted[Tiles::bytes];  // keys, then values, once the positions are known
  };
  typename Lookup::Memory lookup;
  Offset offset[max_counted];                   // output offset of a bucket's first key, minus its position in the tile
  alignas(8) std::uint16_t start[max_counted];  // a bucket's first position in the tile
  unsigned next;                                // the block's next tile
  std::uint8_t bucket[has_values ? Tiles::tile : 4];  // of each position in the tile, if there are values
};

// Block-wide: partitions the tiles that this block draws; thread 0 has already drawn the first. Buckets are computed
// from codec.encode(key).
template <class Tiles, class Memory, class T, class B, TileOffsets Lookup, KeyCodec<T> Codec>
__device__ __forceinline__ void partition_loaded_tiles(Memory& m, const BucketedKeys<T, B>& in, T* out,
                                                       const Values& values, const Lookup& lookup,
                                                       const TileQueue& queue, unsigned first_tile,
                                                       const Codec& codec) {
  using Ranks = typename Tiles::Ranks;
  using Value = typename Tiles::Value;
  constexpr bool has_values = Memory::with_values;
  constexpr unsigned block = Tiles::block, keys_per_thread = Tiles::keys;
  const unsigned t = threadIdx.x;
  const TileReader<T, Tiles::tile> keys_in{in.keys, in.n};
  const TileReader<Value, Tiles::tile> values_in{static_cast<const InArray<Value>*>(values.in), in.n};
  T keys[keys_per_thread];
  // Padding past the end is in the last bucket and sorts after all real keys.
  const auto load_keys = [&](unsigned tile) {
    if (tile >= lookup.tiles) return;
    const T past = codec.read_as(key_past_the_end(in, tile, Tiles::tile, keys_in.size(tile)));
    keys_in.template load_to_registers<Ranks>(tile, past, keys);
  };
  if (t == 0) m.next = first_tile;
  lookup.prepare(m.lookup);
  __syncthreads();
  unsigned tile = m.next;
  load_keys(tile);
  while (tile < lookup.tiles) {
    const unsigned size = keys_in.size(tile);
    // 1. Sort the tile by bucket. Without values, the block draws its next tile as soon as this one is counted.
#pragma unroll
    for (unsigned k = 0; k < keys_per_thread; ++k) keys[k] = codec.encode(keys[k]);
    unsigned positions[(keys_per_thread + 1) / 2], following = 0;
    Ranks::find_positions(m.ranks, keys, in.buckets, positions, m.start, [&](uint4 counts) {
      lookup.publish(tile, counts);
      if (!has_values && t == 0) following = queue.start_draw();
    });
    store_at_positions(reinterpret_cast<T*>(m.sorted), positions, keys);
    if (!has_values && t == 0) m.next = queue.drawn(following);
    // 2. Find the output offsets of the tile's buckets.
    lookup.find(tile, 0, m.lookup, m.start, Tiles::tile, m.offset);
    __syncthreads();
    // 3. Write the runs: neighbouring lanes store to neighbouring offsets, while the next keys or this tile's values
    // load.
    [[maybe_unused]] Value own[has_values ? keys_per_thread : 1];
    if constexpr (has_values)
      values_in.template load_to_registers<Ranks>(tile, Value{}, own);
    else
      load_keys(m.next);
    const T* const sorted_keys = reinterpret_cast<const T*>(m.sorted);
    for_each_position<Tiles>(size, out, [&](unsigned first, unsigned k, T* row) {
      const T key = (sorted_keys + first)[k * block];
      const unsigned bucket = in.buckets(key);
      (row + m.offset[bucket])[k * block] = codec.decode(key);
      if (has_values) (m.bucket + first)[k * block] = static_cast<std::uint8_t>(bucket);
    });
    // 4. Sort and write the values. The next tile is drawn only now, because a tile that is drawn early holds up its
    // successors.
    if constexpr (has_values) {
      if (t == 0) m.next = queue.draw();
      __syncthreads();
      load_keys(m.next);
      Value* const sorted = reinterpret_cast<Value*>(m.sorted);
      store_at_positions(sorted, positions, own);
      __syncthreads();
      auto* const to = static_cast<InArray<Value>*>(values.out);
      const bool aligned = reinterpret_cast<std::uintptr_t>(to) % sizeof(Value) == 0;
      for_each_position<Tiles>(size, out, [&](unsigned first, unsigned k, T*) {
        const unsigned p = first + k * block;
        write_element(to + m.offset[m.bucket[p]] + p, sorted[p], aligned);
      });
    }
    tile = m.next;
  }
}

}  // namespace upsweep::multisplit

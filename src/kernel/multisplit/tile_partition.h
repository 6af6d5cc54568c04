// A persistent block's part of a multisplit into up to 256 buckets: it fetches, ranks, sorts and writes tile after
// tile.
#pragma once
#include "kernel/evict_last.h"
#include "kernel/multisplit/concepts.h"
#include "kernel/multisplit/thread_counters.h"
#include "kernel/multisplit/tiles.h"
#include "kernel/ptx.h"

namespace upsweep::multisplit {

// A block's shared memory. Offset is the type of scatter offsets: 64 bits only if n needs them, because a warp reads
// 64-bit offsets in two wavefronts.
template <class Offset, class Tiles, class T, bool has_values, class Lookup>
struct TilePartitionMemory {
  using OffsetType = Offset;
  static constexpr bool with_values = has_values;
  typename Tiles::Ranks::template TileMemory<Tiles::bytes / 16> tile;  // keys, then values
  typename Lookup::Memory lookup;
  Offset offset[max_counted];                   // output offset of a bucket's first key, minus its position in the tile
  alignas(8) std::uint16_t start[max_counted];  // a bucket's first position in the tile
  std::uint64_t arrived;                        // mbarrier
  unsigned next;                                // the block's next tile
  std::uint8_t bucket[has_values ? Tiles::tile : 4];  // of each position in the tile, if there are values
};

// A KeyCodec that leaves keys unchanged.
struct IdentityCodec {
  template <class T>
  __device__ T encode(T read) const {
    return read;
  }
  template <class T>
  __device__ T read_as(T key) const {
    return key;
  }
  template <class T>
  __device__ T decode(T key) const {
    return key;
  }
};

// Block-wide: partitions the tiles that this block draws; thread 0 has already drawn the first. Buckets are computed
// from codec.encode(key). `opaque_zero` is as in ThreadRanks::sort().
template <class Tiles, class Memory, class T, class B, TileOffsets Lookup, KeyCodec<T> Codec>
requires TileRanks<typename Tiles::Ranks, T, B> __device__ __forceinline__ void partition_in_tiles(
    Memory& m, const BucketedKeys<T, B>& in, T* out, const Values& values, const Lookup& lookup, const TileQueue& queue,
    unsigned first_tile, T opaque_zero, const Codec& codec) {
  using Value = typename Tiles::Value;
  constexpr bool has_values = Memory::with_values;
  constexpr unsigned block = Tiles::block, keys_per_lane = Tiles::keys;
  const unsigned t = threadIdx.x;
  const TileReader<T, Tiles::tile> keys_in{in.keys, in.n};
  const TileReader<Value, Tiles::tile> values_in{static_cast<const InArray<Value>*>(values.in), in.n};
  const auto fetch_keys = [&](unsigned tile, unsigned turn) {  // by one thread
    if (tile >= lookup.tiles) return;
    mbarrier_arrive_expect(&m.arrived, keys_in.fetched_bytes(tile) + Lookup::fetched_bytes);
    keys_in.fetch(tile, m.tile.staged(), &m.arrived);
    lookup.fetch(tile, turn, m.lookup, &m.arrived);
  };
  const auto fetch_values = [&](unsigned tile) {  // by one thread
    mbarrier_arrive_expect(&m.arrived, values_in.fetched_bytes(tile));
    values_in.fetch(tile, m.tile.staged(), &m.arrived);
  };
  const auto offset_of = [&](T key) {  // output offset of its bucket's first key, minus its position in the tile
    using Offset = typename Memory::OffsetType;
    constexpr unsigned shift = sizeof(Offset) == 8 ? 3 : 2;
    const unsigned at = shifted_bucket<shift>(in.buckets, key);
    return *reinterpret_cast<const Offset*>(reinterpret_cast<const std::uint8_t*>(m.offset) + at);
  };
  // Neighbouring tiles write to the sectors at the ends of a run, hence store_evict_last(). Sorts of pairs do without,
  // because it makes them 0.6 % slower.
  const auto store = [](auto* to, auto element) {
    if constexpr (has_values && Lookup::waits)
      *to = element;
    else
      store_evict_last(to, element);
  };
  unsigned phase = 0;  // phase of m.arrived
  const auto wait = [&] { mbarrier_wait(&m.arrived, phase++ % 2); };
  if (t == 0) {
    mbarrier_init(&m.arrived, 1);
    m.next = first_tile;
    fetch_keys(m.next, 0);
  }
  lookup.prepare(m.lookup);
  __syncthreads();
  unsigned turn = 0;  // this tile's row in m.lookup, 0 or 1
  for (unsigned tile = m.next; tile < lookup.tiles; tile = m.next, turn ^= 1) {
    const unsigned size = keys_in.size(tile);
    unsigned following = 0;  // the next tile, kept here until m.next may change
    // 1. Load the lane's keys. Padding past the end is in the last bucket and sorts after all real keys.
    wait();
    T keys[keys_per_lane];
    const T past = codec.read_as(key_past_the_end(in, tile, Tiles::tile, size));
    keys_in.template load<typename Tiles::Ranks>(tile, m.tile.staged(), past, keys);
#pragma unroll
    for (unsigned k = 0; k < keys_per_lane; ++k) keys[k] = codec.encode(keys[k]);
    // 2. Sort the tile by bucket, and find the buckets' offsets. The values or the next keys arrive where the counters
    // were.
    unsigned positions[(keys_per_lane + 1) / 2];
    // Atomics reduce ranking from 29 % of the time to 16 % on an H200. But without values, tiles are then written in a
    // less regular order and wait for L2 instead, unless a look-back keeps the order: 2^28 uniform keys take 1146 us
    // with atomics and 1085 with reads.
    constexpr Counting by = has_values || Lookup::waits ? Counting::atomics : Counting::reads;
    Tiles::Ranks::template sort<has_values, by>(m.tile, keys, in.buckets, opaque_zero, positions, m.start,
                                                [&](uint4 counts) {
                                                  lookup.publish(tile, counts);
                                                  if (!has_values && t == 0) following = queue.start_draw();
                                                });
    if (!has_values && t == 0) following = queue.drawn(following);
    if (!Tiles::Ranks::ends_with_staged_free) __syncthreads();
    if (t == 0) {
      if (has_values)
        fetch_values(tile);
      else
        fetch_keys(following, turn ^ 1);
      if (!has_values && !Lookup::waits) queue.keep_pace(tile, following);
    }
    lookup.find(tile, turn, m.lookup, m.start, Tiles::tile, m.offset);
    if (!has_values && t == 0) m.next = following;
    __syncthreads();
    // 3. Write the runs: neighbouring lanes store to neighbouring offsets.
    const T* const sorted_keys = reinterpret_cast<const T*>(m.tile.sorted());
    for_each_position<Tiles>(size, out, [&](unsigned first, unsigned k, T* row) {
      const T key = (sorted_keys + first)[k * block];
      store(&(row + offset_of(key))[k * block], codec.decode(key));
      if (has_values) (m.bucket + first)[k * block] = static_cast<std::uint8_t>(in.buckets(key));
    });
    // 4. Sort and write the values the same way.
    if constexpr (has_values) {
      if (t == 0) following = queue.start_draw();
      wait();
      Value own[keys_per_lane];
      values_in.template load<typename Tiles::Ranks>(tile, m.tile.staged(), Value{}, own);
      fence_before_bulk_copy();
      __syncthreads();
      if (t == 0) {
        following = queue.drawn(following);
        fetch_keys(following, turn ^ 1);
        m.next = following;
      }
      Value* const sorted = reinterpret_cast<Value*>(m.tile.sorted());
      store_at_positions(sorted, positions, own);
      __syncthreads();
      auto* const to = static_cast<InArray<Value>*>(values.out);
      const bool aligned = reinterpret_cast<std::uintptr_t>(to) % sizeof(Value) == 0;
      for_each_position<Tiles>(size, out, [&](unsigned first, unsigned k, T*) {
        const unsigned p = first + k * block;
        if constexpr (sizeof(Value) <= 8)
          store(to + m.offset[m.bucket[p]] + p, sorted[p]);
        else
          write_element(to + m.offset[m.bucket[p]] + p, sorted[p], aligned);
      });
    }
  }
}

}  // namespace upsweep::multisplit

// The interchangeable parts of a multisplit into up to 256 buckets, and when they are called.
//
// A persistent block (tile_partition.h) calls offsets.prepare() once. Then, for each tile that it draws:
//   1. One thread has started the copies of the tile's keys and of the data that offsets.fetch() requests. All threads
//      wait for both, load their keys by Ranks::element(), and codec.encode() them.
//   2. Ranks::sort() stores the keys in shared memory, by bucket. As soon as the tile is counted, threads 0 to 63 call
//      offsets.publish() with the counts of four buckets each.
//   3. After a barrier, offsets.find() computes the output offset of each bucket's first key, minus that key's position
//      in the tile.
//   4. After another barrier, codec.decode(key) is written at the key's position plus its bucket's offset.
#pragma once
#include <concepts>

#include "kernel/kernel.h"

namespace upsweep::multisplit {

// The way in which a lane counts keys in its byte counters. `reads`: a load and a store per key, each of which depends
// on the previous key's. `atomics`: atomic additions to whole words, which are independent but take one more
// instruction.
enum class Counting { reads, atomics };

// Sorts a tile's keys by bucket, stably. Models: MatchRanks (match_ranks.h), ThreadRanks (thread_counters.h).
template <class R, class T, class Buckets>
concept TileRanks = requires(typename R::template TileMemory<1>& m, T (&keys)[R::keys], const Buckets& bucket_of,
                             T opaque_zero, unsigned (&positions)[(R::keys + 1) / 2], std::uint16_t* start,
                             void (*counted)(uint4)) {
  { R::element(0u) } -> std::same_as<unsigned>;     // the position in the unsorted tile of this thread's key 0
  { R::consecutive } -> std::convertible_to<bool>;  // whether a thread's keys are neighbours in memory
  { m.staged() } -> std::same_as<uint4*>;           // shared memory in which the next tile arrives
  { m.sorted() } -> std::same_as<uint4*>;           // shared memory in which this tile is sorted
  { R::ends_with_staged_free } -> std::convertible_to<bool>;  // if false, staged() is free after the next barrier
  R::template sort<true, Counting::reads>(m, keys, bucket_of, opaque_zero, positions, start, counted);
};

// Finds the output offsets of a tile's buckets. Models: OffsetTable (table.h), TileLookback, TileGroups (lookback.h).
template <class O>
concept TileOffsets = requires(const O& offsets, typename O::Memory& m, unsigned tile, unsigned parity,
                               std::uint64_t* arrived, uint4 counts, const std::uint16_t* start,
                               std::uint64_t* offset) {
  { offsets.tiles } -> std::convertible_to<unsigned>;
  { O::fetched_bytes } -> std::convertible_to<unsigned>;  // copied by fetch()
  { O::waits } -> std::convertible_to<bool>;              // whether find() waits for other tiles
  offsets.prepare(m);
  offsets.fetch(tile, parity, m, arrived);  // `parity` alternates from tile to tile of a block
  offsets.publish(tile, counts);
  offsets.find(tile, parity, m, start, tile, offset);
};

// Converts keys between their representations in memory and in a tile. Buckets are computed from encoded keys.
template <class C, class T>
concept KeyCodec = requires(const C& codec, T key) {
  { codec.encode(key) } -> std::same_as<T>;   // for a key that was read
  { codec.read_as(key) } -> std::same_as<T>;  // the inverse of encode(), for keys past the end
  { codec.decode(key) } -> std::same_as<T>;   // for a key to be written
};

}  // namespace upsweep::multisplit

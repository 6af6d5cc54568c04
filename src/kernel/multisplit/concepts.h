// The parts of a multisplit into up to 256 buckets that can be exchanged, and who calls them when.
//
// A persistent block (tile_partition.h) calls offsets.prepare() once. Then it draws one tile after another, and for
// each:
//   1. One thread has started the copies of the tile's keys and of what offsets.fetch() asks for. All threads wait for
//      both, take their keys as Ranks::element() says, and codec.encode() them.
//   2. Ranks::sort() stores the keys in shared memory, by bucket. As soon as the tile is counted, threads 0 to 63 call
//      offsets.publish() with the counts of four buckets each.
//   3. offsets.find(), after a barrier: where each bucket's first key goes in the output, less its position in the
//   tile.
//   4. After another barrier, codec.decode() of each key goes to the sum of its position and its bucket's offset.
#pragma once
#include <concepts>

#include "kernel/kernel.h"

namespace upsweep::multisplit {

// The ways to count a lane's keys in bytes of its own: by a read and a write for one key after another, each of which
// waits for the one before; or by atomic additions to words, which need not wait and take one instruction more.
enum class Counting { reads, atomics };

// Orders a tile's keys by bucket, stably: match_ranks.h, thread_counters.h.
template <class R, class T, class Buckets>
concept TileRanks = requires(typename R::template TileMemory<1>& m, T (&keys)[R::keys], const Buckets& bucket_of,
                             T opaque_zero, unsigned (&positions)[(R::keys + 1) / 2], std::uint16_t* start,
                             void (*counted)(uint4)) {
  { R::element(0u) } -> std::same_as<unsigned>;     // the position in the unsorted tile of this thread's key 0
  { R::consecutive } -> std::convertible_to<bool>;  // whether a thread's keys are neighbours in memory
  { m.staged() } -> std::same_as<uint4*>;           // where the next tile arrives
  { m.sorted() } -> std::same_as<uint4*>;           // where this one is sorted
  { R::ends_with_staged_free } -> std::convertible_to<bool>;  // or only after the next barrier
  R::template sort<true, Counting::reads>(m, keys, bucket_of, opaque_zero, positions, start, counted);
};

// Knows how many keys of each bucket come before a tile: table.h, lookback.h.
template <class O>
concept TileOffsets = requires(const O& offsets, typename O::Memory& m, unsigned tile, unsigned parity,
                               std::uint64_t* arrived, uint4 counts, const std::uint16_t* start,
                               std::uint64_t* offset) {
  { offsets.tiles } -> std::convertible_to<unsigned>;
  { O::fetched_bytes } -> std::convertible_to<unsigned>;  // what fetch() copies
  { O::waits } -> std::convertible_to<bool>;              // whether find() waits for other tiles
  offsets.prepare(m);
  offsets.fetch(tile, parity, m, arrived);  // `parity` alternates from tile to tile of a block
  offsets.publish(tile, counts);
  offsets.find(tile, parity, m, start, tile, offset);
};

// Translates keys between memory and the tile, where buckets are found in them.
template <class C, class T>
concept KeyCodec = requires(const C& codec, T key) {
  { codec.encode(key) } -> std::same_as<T>;   // of a key that was read
  { codec.read_as(key) } -> std::same_as<T>;  // the inverse of encode(), for keys past the end
  { codec.decode(key) } -> std::same_as<T>;   // as it is written
};

}  // namespace upsweep::multisplit

// Single-core loops that count and move elements, for the CPU rungs of partition and sort.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "cpu/cache.h"

namespace upsweep::ladders::partition {

// Elements [begin, end) of the arrays, to be counted or moved by one core.
struct Part {
  const void* keys;          // [end]
  const void* values;        // [end]; unused by loops for keys alone
  void* out_keys;            // the whole output of keys
  void* out_values;          // the whole output of values; unused by loops for keys alone
  unsigned first_bit;        // of the digit; unused with ids
  unsigned buckets;          // a power of two, except with ids
  const std::uint16_t* ids;  // [end], the elements' buckets, for loops by id
  const void* reader;        // for loops with another source of elements
  std::size_t begin, end;
};

struct Loops {
  // Adds the part's elements to the counts of their buckets. `tables`: scratch of table_words(buckets) words.
  void (*count)(const Part&, std::uint32_t* counts, std::uint32_t* tables);

  // Three ways to move the elements. All take and update `next`, the output index of each bucket's next element.

  // Element by element.
  void (*scatter)(const Part&, std::uint32_t* next);
  // Write-combining: each bucket fills a line, which is copied when full. `scratch`: combine_bytes().
  void (*combine)(const Part&, std::uint64_t* next, Stores, void* scratch);
  // Partitions `block` elements at a time in the cache, then copies each bucket's whole lines. `counts`,
  // [blocks][in_lines(buckets)], has the counts of each block. `scratch`: blocks_bytes().
  void (*blocks)(const Part&, std::uint64_t* next, const std::uint32_t* counts, std::size_t block, Stores,
                 void* scratch);
};

// Returns the loops for this processor's instruction set. Keys have 4 or 8 bytes; values have 4, 8 or 16, or 0 if there
// are none. With `by_ids`, buckets are those of Part::ids, otherwise of the digit.
Loops simd_loops(unsigned key_bytes, unsigned value_bytes, bool by_ids);

// Splitters, padded with the greatest key to 2^halvings - 1, so that every search takes the same number of steps.
struct Search {
  const void* splitters;
  unsigned halvings, last_bucket;
};
// Writes the buckets of keys [begin, end) to ids[begin, end).
using FindIds = void (*)(const Search&, const void* keys, std::size_t begin, std::size_t end, std::uint16_t* ids);
FindIds simd_search(unsigned key_bytes);

// ---- scratch, aligned to cache lines --------------------------------------------------------------------------------

inline constexpr std::size_t line_bytes = 64;

// Rounds a number of 32-bit words up to whole cache lines.
constexpr std::size_t in_lines(std::size_t words) { return (words + 15) / 16 * 16; }

constexpr std::size_t table_words(unsigned buckets) { return in_lines(4 * std::size_t{buckets}); }

// Elements per line of the narrower array: the smallest unit that is copied.
constexpr std::size_t elements_per_line(unsigned key_bytes, unsigned value_bytes) {
  return line_bytes / (value_bytes ? std::min(key_bytes, value_bytes) : key_bytes);
}

// Returns the bytes of scratch for Loops::combine: two words and a line per bucket.
constexpr std::size_t combine_bytes(unsigned buckets, unsigned key_bytes, unsigned value_bytes) {
  const std::size_t held = buckets * elements_per_line(key_bytes, value_bytes);
  return 2 * in_lines(buckets) * sizeof(std::uint32_t) + held * (key_bytes + value_bytes);
}

// Returns the slots of a block in which each bucket's run is padded to whole lines at both ends.
constexpr std::size_t block_slots(std::size_t block, unsigned buckets, std::size_t per_line) {
  return (block + per_line - 1) / per_line * per_line + 2 * buckets * per_line;
}
// Returns the bytes of scratch for Loops::blocks: three words per bucket; the slots of a block; per bucket, the partial
// line that joins the next block.
constexpr std::size_t blocks_bytes(std::size_t block, unsigned buckets, unsigned key_bytes, unsigned value_bytes) {
  const std::size_t per_line = elements_per_line(key_bytes, value_bytes);
  const std::size_t slots = block_slots(block, buckets, per_line) + buckets * per_line;
  return 3 * in_lines(buckets) * sizeof(std::uint32_t) + slots * (key_bytes + value_bytes);
}

}  // namespace upsweep::ladders::partition

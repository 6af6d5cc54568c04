// The loops that sort on one core, for the rungs that build on them.
//
// They move elements. An element is a number, a word that compares as its key does (KeyOrder), and its value: no loop
// but those that read the caller's arrays and write them knows of types, signs or descending order. The number of a key
// of up to 4 bytes has 4, any other 8. A value of 4 bytes beside a number of 4 is packed under it, into one word.
#pragma once
#include <cstddef>
#include <cstdint>

#include "ladders/partition/cpu_simd.h"

namespace upsweep::ladders::sort {

struct Form {
  unsigned word_bytes;   // 4 or 8
  unsigned value_bytes;  // of the values beside the words; 0: there are none, or they are in the words
  unsigned number_bit;   // where a word's number begins: above a packed value
  unsigned bytes() const { return word_bytes + value_bytes; }
};
constexpr Form form_of(unsigned key_bytes, unsigned value_bytes) {
  const bool narrow = key_bytes <= 4, packed = narrow && value_bytes == 4;
  return {narrow && !packed ? 4u : 8u, packed ? 0u : value_bytes, packed ? 32u : 0u};
}

// Arrays of elements. There are no values if the form has none.
struct Elements {
  void* words;
  void* values;
};

struct Loops;

// The caller's arrays, and the order of its keys.
struct Caller {
  const void* keys;
  const void* values;  // null: the values are the keys' indices
  void* out_keys;      // may be `keys`; null: not wanted
  void* out_values;    // may be `values`
  unsigned key_bytes, value_bytes;
  std::uint64_t flip, negative;  // of KeyOrder
  const Loops* loops;            // those for this form

  bool unordered() const { return flip == 0 && negative == 0; }  // keys are their numbers
};

struct Loops {
  // Read elements [begin, begin + n) from the caller's arrays: the words; the numbers alone; everything.
  void (*words)(const Caller&, std::size_t begin, std::size_t n, void* words);
  void (*numbers)(const Caller&, std::size_t begin, std::size_t n, void* numbers);
  void (*read)(const Caller&, std::size_t begin, std::size_t n, Elements to);
  // Writes elements to [begin, begin + n) of the caller's outputs, one of which may be the elements' own memory.
  void (*write)(const Caller&, std::size_t begin, std::size_t n, Elements from);

  // Partition elements of the caller's arrays, for which Part::reader is the Caller; and elements.
  partition::Loops partition_read, partition;
  // Returns the bits in which words differ, of elements of the caller's arrays and of elements.
  std::uint64_t (*differ_read)(const Caller&, std::size_t begin, std::size_t n);
  std::uint64_t (*differ)(Elements, std::size_t n);
  // Sorts n elements, less than 2^32, by the bits [low, high) of their words; stable. Returns where they are then: in
  // `from`, `a` or `b`. `b` may be `from`. `counts`: [sort_counts].
  Elements (*sort)(Elements from, Elements a, Elements b, std::size_t n, unsigned low, unsigned high,
                   std::uint32_t* counts);
};

// Bits of a digit that is sorted by in the cache: two tables of counters are 16 KiB, half of L1.
inline constexpr unsigned widest_digit = 11;
inline constexpr std::size_t sort_counts = std::size_t{2} << widest_digit;

// True if there is -0 or NaN among n floats of 4 or 8 bytes.
bool zero_or_nan(unsigned key_bytes, const void* keys, std::size_t n);

// Returns the loops for this processor.
const Loops& simd_loops(unsigned key_bytes, unsigned value_bytes);

}  // namespace upsweep::ladders::sort

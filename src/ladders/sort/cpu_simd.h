// The loops that sort on one core, shared by the rungs.
//
// The loops move elements. An element is a number, which compares as its key does (KeyOrder), and the key's value. Only
// the loops that read or write the caller's arrays know types, signs and descending order. A number has 4 bytes if its
// key has up to 4, otherwise 8. A 4-byte value is packed below a 4-byte number, into one word.
#pragma once
#include <cstddef>
#include <cstdint>

#include "ladders/partition/cpu_simd.h"

namespace upsweep::ladders::sort {

struct Form {
  unsigned word_bytes;   // 4 or 8
  unsigned value_bytes;  // of a value outside the word; 0 if there is none or it is packed
  unsigned number_bit;   // lowest bit of a word's number: above a packed value
  unsigned bytes() const { return word_bytes + value_bytes; }
};
constexpr Form form_of(unsigned key_bytes, unsigned value_bytes) {
  const bool narrow = key_bytes <= 4, packed = narrow && value_bytes == 4;
  return {narrow && !packed ? 4u : 8u, packed ? 0u : value_bytes, packed ? 32u : 0u};
}

// Arrays of elements. `values` is unused if the form has none.
struct Elements {
  void* words;
  void* values;
};

struct Loops;

// The caller's arrays, and the order of its keys.
struct Caller {
  const void* keys;
  const void* values;  // null: the values are the keys' indices
  void* out_keys;      // may be `keys`; null: not requested
  void* out_values;    // may be `values`
  unsigned key_bytes, value_bytes;
  std::uint64_t flip, negative;  // of KeyOrder
  const Loops* loops;            // for this form

  bool unordered() const { return flip == 0 && negative == 0; }  // keys equal their numbers
};

struct Loops {
  // Read elements [begin, begin + n) from the caller's arrays: only words, only numbers, or words and values.
  void (*words)(const Caller&, std::size_t begin, std::size_t n, void* words);
  void (*numbers)(const Caller&, std::size_t begin, std::size_t n, void* numbers);
  void (*read)(const Caller&, std::size_t begin, std::size_t n, Elements to);
  // Writes elements to [begin, begin + n) of the caller's outputs. The elements may lie in one of the outputs.
  void (*write)(const Caller&, std::size_t begin, std::size_t n, Elements from);

  // Partition elements of the caller's arrays, with the Caller as Part::reader, and elements in memory.
  partition::Loops partition_read, partition;
  // Return the bits in which words differ: of the caller's arrays, and of elements in memory.
  std::uint64_t (*differ_read)(const Caller&, std::size_t begin, std::size_t n);
  std::uint64_t (*differ)(Elements, std::size_t n);
  // Sorts n elements, fewer than 2^32, by the bits [low, high) of their words; stable. Returns the array that holds the
  // result: `from`, `a` or `b`. `b` may be `from`. `counts`: [sort_counts].
  Elements (*sort)(Elements from, Elements a, Elements b, std::size_t n, unsigned low, unsigned high,
                   std::uint32_t* counts);
};

// Maximum bits per digit of a sort in the cache: two tables of counters are 16 KiB, half of L1.
inline constexpr unsigned widest_digit = 11;
inline constexpr std::size_t sort_counts = std::size_t{2} << widest_digit;

// True if any of n floats of this type is -0 or NaN.
bool zero_or_nan(Type type, const void* keys, std::size_t n);

// Returns the loops for this processor.
const Loops& simd_loops(unsigned key_bytes, unsigned value_bytes);

}  // namespace upsweep::ladders::sort

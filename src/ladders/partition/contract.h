// partition: out[0] = the n keys of in[0] by bucket, stable: keys of one bucket keep their order. out[1] = the values
// of in[1], each beside its key. out[2] = where each bucket begins, and n: buckets + 1 offsets.
//
//   digit      bucket (key >> first_bit) & (2^bits - 1), of 2^bits; scalars[0] is first_bit, scalars[1] is bits, 1
//              to 15; both together are at most the key's width
//   splitters  the number of splitters that are not above the key; in[2] holds buckets - 1 of them, of the keys' type,
//              each above the one before it, the first above 0: so every bucket has a key that belongs there
//
// There are 2 to 32768 buckets. Keys are u32 or u64. Values have 4 or 8 bytes, n elements of any type of that size, or
// 16, 2 n elements of 8 bytes; without values, in[1] and out[1] have no elements. Offsets are u32, or u64 if n >= 2^32.
// No output may overlap an input or another output. Arrays at any alignment of the element: values of 16 bytes may lie
// 8 past a 16-byte boundary.
#pragma once
#include "base/implementation.h"
#include "upsweep/operations.h"

namespace upsweep::ladders::partition {

inline constexpr unsigned most_bits = 15, most_buckets = 1u << most_bits;
// Buckets that a block counts at once where each lane or warp has counters of its own.
inline constexpr unsigned most_counted = 256;
// Buckets of which a block's shared memory has the rows of a table (tile_table.cuh).
inline constexpr unsigned most_in_table = 1 << 11;

// ---- buckets --------------------------------------------------------------------------------------------------------

template <Bucketing b>
struct By {
  static constexpr Bucketing bucketing = b;
};

// Maps a key to its bucket, below `count`. Plain data, passed to kernels by value; a caller's function comes in a
// struct of the same shape.
template <class T, class O>
struct Buckets;

template <class T>
struct Buckets<T, By<Bucketing::digit>> {
  unsigned first_bit;
  unsigned count;                                     // a power of two
  UPSWEEP_HD T last_key() const { return T(~T(0)); }  // one that is in the last bucket
  UPSWEEP_HD unsigned operator()(T key) const { return static_cast<unsigned>(key >> first_bit) & (count - 1); }
};

template <class T>
struct Buckets<T, By<Bucketing::splitters>> {
  const T* splitters;  // [count - 1]
  unsigned count;
  UPSWEEP_HD T last_key() const { return T(~T(0)); }
  UPSWEEP_HD unsigned operator()(T key) const {
    unsigned first = 0;  // the splitters before it are not above the key
    for (unsigned left = count - 1; left > 0;) {
      const unsigned half = left / 2;
      if (splitters[first + half] <= key) {
        first += half + 1;
        left -= half + 1;
      } else {
        left = half;
      }
    }
    return first;
  }
};

// ---- arguments ------------------------------------------------------------------------------------------------------

template <class T, class O>
struct Input {
  const T* keys;  // [n]
  std::size_t n;
  Buckets<T, O> buckets;

  UPSWEEP_HD unsigned bucket_of(std::size_t i) const { return buckets(keys[i]); }
};

// 16 bytes, of which nothing is known but that they are aligned to 8.
struct Wide {
  std::uint64_t low, high;
};

// The values, which are copied and never looked at.
struct Values {
  const void* in;  // [n]
  void* out;       // [n]
  unsigned bytes;  // of each: 4, 8 or 16; 0: there are none

  // Calls f with both arrays in a type of that size, unless there are none.
  template <class F>
  UPSWEEP_HD void visit(F&& f) const {
    switch (bytes) {
      case 0:
        return;
      case 4:
        return f(static_cast<const std::uint32_t*>(in), static_cast<std::uint32_t*>(out));
      case 8:
        return f(static_cast<const std::uint64_t*>(in), static_cast<std::uint64_t*>(out));
      default:
        return f(static_cast<const Wide*>(in), static_cast<Wide*>(out));
    }
  }
  // Copies a value; where `in` is null, as in a sort that wants indices, writes `from`.
  UPSWEEP_HD void move(std::size_t from, std::size_t to) const {
    visit([=]<class V>(const V* all, V* moved) {
      if constexpr (std::is_integral_v<V>)
        moved[to] = all ? all[from] : static_cast<V>(from);
      else
        moved[to] = all[from];
    });
  }
};

// True if offsets into n keys need more than 32 bits; n is one of them.
constexpr bool wide(std::size_t n) { return n > 0xffffffffu; }

struct Offsets {
  void* array;  // [buckets + 1], u64 if wide, else u32
  bool wide;

  UPSWEEP_HD void put(std::size_t bucket, std::uint64_t offset) const {
    if (wide)
      static_cast<std::uint64_t*>(array)[bucket] = offset;
    else
      static_cast<std::uint32_t*>(array)[bucket] = static_cast<std::uint32_t>(offset);
  }
  UPSWEEP_HD std::uint64_t get(std::size_t bucket) const {
    return wide ? static_cast<const std::uint64_t*>(array)[bucket] : static_cast<const std::uint32_t*>(array)[bucket];
  }
};

template <class T, class O>
struct Args : Execution {
  Input<T, O> in;
  T* keys;  // [n], the output
  Values values;
  Offsets offsets;
};

inline constexpr Status no_memory{Code::out_of_memory, 0, "no memory for the buckets' counts"};

}  // namespace upsweep::ladders::partition

// partition: out[0] = the n keys of in[0] by bucket, stable: keys of one bucket keep their order. out[1] = the values
// of in[1], each beside its key. out[2] = where each bucket begins, and n: buckets + 1 offsets.
//
//   digit      bucket (key >> first_bit) & (2^bits - 1), of 2^bits; scalars[0] is first_bit, scalars[1] is bits, 1
//              to 15; both together are at most the key's width
//   splitters  the number of splitters that are not above the key; in[2] holds buckets - 1 of them, of the keys' type,
//              each above the one before it, the first above 0: so every bucket has a key that belongs there
//
// There are 2 to 32768 buckets. Keys are u32 or u64. Values have 4 or 8 bytes, n elements of any type of that size, or
// 16, 2 n elements of 8 bytes; without values, in[1] and out[1] have no elements. Offsets are of any type of 4 or 8
// bytes that holds n. No output may overlap an input or another output. Arrays at any alignment of the element: values
// of 16 bytes may lie 8 past a 16-byte boundary.
#pragma once
#include "base/implementation.h"
#include "kernel/multisplit/args.h"
#include "upsweep/parameters/partition.h"

namespace upsweep::ladders::partition {

using namespace multisplit;

inline constexpr unsigned max_bits = Digit::most_bits, max_buckets = 1u << max_bits;

// ---- buckets --------------------------------------------------------------------------------------------------------

template <Bucketing b>
struct By {
  static constexpr Bucketing operation = b;
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

// Keys and their buckets; and the arguments of a rung.
template <class T, class O>
using Input = multisplit::BucketedKeys<T, Buckets<T, O>>;
template <class T, class O>
using Args = multisplit::Task<T, Buckets<T, O>>;

}  // namespace upsweep::ladders::partition

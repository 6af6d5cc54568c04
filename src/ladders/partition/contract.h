// partition: out[0] = the n keys of in[0], stably sorted by bucket. out[1] = the values of in[1], in the order of their
// keys. out[2] = the buckets + 1 offsets: where each bucket begins, and n.
//
//   digit      bucket (key >> first_bit) & (2^bits - 1), of 2^bits; scalars[0] is first_bit, scalars[1] is bits, 1
//              to 15; their sum is at most the key's width
//   splitters  bucket k if k splitters are <= the key; in[2] holds the buckets - 1 splitters, of the keys' type,
//              strictly ascending and above 0, so that every bucket can have a key
//
// There are 2 to 32768 buckets. Keys are u32 or u64. A value has 4 or 8 bytes (n elements of any type of that size) or
// 16 (2 n elements of 8 bytes); without values, in[1] and out[1] are empty. Offsets have any 4- or 8-byte type that
// holds n. No output may overlap an input or another output. Arrays need only be aligned to their elements: a 16-byte
// value may lie 8 bytes past a 16-byte boundary.
#pragma once
#include "base/call.h"
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

// Maps a key to its bucket, below `count`. Plain data, passed to kernels by value; a caller's function is wrapped in a
// struct of the same shape.
template <class T, class O>
struct Buckets;

template <class T>
struct Buckets<T, By<Bucketing::digit>> {
  unsigned first_bit;
  unsigned count;                                     // a power of two
  UPSWEEP_HD T last_key() const { return T(~T(0)); }  // a key of the last bucket
  UPSWEEP_HD unsigned operator()(T key) const { return static_cast<unsigned>(key >> first_bit) & (count - 1); }
};

template <class T>
struct Buckets<T, By<Bucketing::splitters>> {
  const T* splitters;  // [count - 1]
  unsigned count;
  UPSWEEP_HD T last_key() const { return T(~T(0)); }
  UPSWEEP_HD unsigned operator()(T key) const {
    unsigned first = 0;  // all splitters before it are <= the key
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

// Keys and their buckets, and the arguments of a rung.
template <class T, class O>
using Input = multisplit::BucketedKeys<T, Buckets<T, O>>;
template <class T, class O>
using Args = multisplit::Task<T, Buckets<T, O>>;

// ---- calls ----------------------------------------------------------------------------------------------------------

inline std::size_t bucket_count(const Call& c) {
  if (c.operation.as<Bucketing>() == Bucketing::splitters) return c.in[2].count + 1;
  return std::size_t{1} << partition_scalars.read(c.scalars).bits;
}

// Returns the bytes per value; 0 without values.
inline unsigned value_bytes(const Call& c) { return c.n() == 0 ? 0 : static_cast<unsigned>(c.in[1].bytes() / c.n()); }

}  // namespace upsweep::ladders::partition

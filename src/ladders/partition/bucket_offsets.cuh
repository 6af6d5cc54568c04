// Where a bucket's element lies in an array, in bytes. A digit's bits are moved to their places in the address at once:
// its number is never formed.
#pragma once
#include "kernel/address.h"
#include "kernel/bytes.h"

namespace upsweep::ladders::partition {

// Returns the largest divisor of `number` up to `most`.
constexpr unsigned largest_divisor(unsigned number, unsigned most) {
  while (number % most) --most;
  return most;
}

// True of buckets that are bits of the key.
template <class B>
inline constexpr bool is_digit = requires(B b) {
  b.first_bit;
  b.last_key();
};

// What a digit's bits differ by from its bucket.
template <class B>
__device__ unsigned flipped_bits(const B& digit) {
  if constexpr (requires { digit.flip; })
    return digit.flip;
  else
    return 0;
}

// Returns the key with its digit's first bit moved to bit `to`, and anything beside the digit.
template <unsigned to, class B, class T>
__device__ __forceinline__ unsigned move_digit(const B& digit, T key) {
  if constexpr (sizeof(T) <= 4 && to > 0)
    return __funnelshift_r(key, key, digit.first_bit - to);  // a rotation: modulo 32
  else
    return static_cast<unsigned>(key >> digit.first_bit) << to;
}

// Returns 2^shift times the key's bucket.
template <unsigned shift, class B, class T>
__device__ __forceinline__ unsigned shifted_bucket(const B& buckets, T key) {
  if constexpr (is_digit<B>)
    return (move_digit<shift>(buckets, key) & (buckets.count - 1) << shift) ^ flipped_bits(buckets) << shift;
  else
    return buckets(key) << shift;
}

// The address of a bucket's element of 2^shift bytes, where rows of 128 bytes have 2^row elements beside each other.
// `shared` is that of the first one, a multiple of 2^(shift + row).
template <unsigned shift, unsigned row, class B>
struct RowAddress {
  static constexpr unsigned in_row = (1 << row) - 1, to_rows = 7 - row - shift;
  B buckets;
  SharedAddress column, flipped;
  unsigned rows, flipped_rows, elements;  // of a digit's bits, moved to `shift`
  unsigned bits, bits_flipped;            // likewise, of elements that are bytes, moved to 3
  // `nothing` is 0, which the compiler must not know: it would take masks apart, for an instruction more per key.
  __device__ RowAddress(const B& of, const void* shared, unsigned nothing)
      : buckets(of), column(shared_address(shared)) {
    if constexpr (is_digit<B>) {
      const unsigned flip = flipped_bits(of), all = of.count - 1;
      rows = (all & ~in_row) << shift, flipped_rows = (flip & ~in_row) << shift;
      elements = ((all & in_row) << shift) ^ nothing, flipped = column ^ (flip & in_row) << shift;
      bits = ((all & in_row) << 3) ^ nothing, bits_flipped = (flip & in_row) << 3;
    }
  }
  template <class T>
  __device__ __forceinline__ SharedAddress operator()(T key) const {
    if constexpr (is_digit<B>) {
      const unsigned moved = move_digit<shift>(buckets, key);
      return (((moved & rows) ^ flipped_rows) << to_rows) + ((moved & elements) ^ flipped);
    } else {
      const unsigned bucket = buckets(key);
      return ((bucket & ~in_row) << (shift + to_rows)) + ((bucket & in_row) << shift) + column;
    }
  }
  // Of four bytes in a word: its address, and the byte's first bit.
  template <class T>
  __device__ __forceinline__ SharedAddress word(T key) const {
    if constexpr (is_digit<B>)
      return (((move_digit<shift>(buckets, key) & rows) ^ flipped_rows) << to_rows) + column;
    else
      return ((buckets(key) & ~in_row) << (shift + to_rows)) + column;
  }
  template <class T>
  __device__ __forceinline__ unsigned first_bit(T key) const {
    if constexpr (is_digit<B>)
      return (move_digit<3>(buckets, key) & bits) ^ bits_flipped;
    else
      return (buckets(key) & in_row) * 8;
  }
};

// How a lane counts in its own bytes: by a read and a write for one key after another, each of which waits for the one
// before; or by atomic additions to words, which need not wait and take one instruction more.
enum class Counting { reads, atomics };

struct Nothing {
  __device__ void operator()(unsigned) const {}
};

// Counts a lane's keys in bytes that it has to itself: byte k % 4 of ranks[k / 4] becomes the number of earlier keys in
// key k's bucket. Calls meanwhile(k) while the counter of key k is on its way.
template <Counting by, class B, class T, unsigned count, class Meanwhile = Nothing>
__device__ __forceinline__ void rank_own(const RowAddress<0, 2, B>& counter_of, const T (&keys)[count],
                                         unsigned (&ranks)[(count + 3) / 4], Meanwhile&& meanwhile = {}) {
#pragma unroll
  for (unsigned k = 0; k < count; ++k) {
    unsigned& four = ranks[k / 4];
    if constexpr (by == Counting::atomics) {
      const unsigned first_bit = counter_of.first_bit(keys[k]);
      const unsigned rank = atomicAdd(&at_shared<unsigned>(counter_of.word(keys[k])), 1u << first_bit) >> first_bit;
      meanwhile(k);
      four = k % 4 == 0 ? rank & 0xff : replace_byte(four, k % 4, rank);
    } else {
      auto& counter = at_shared<std::uint8_t>(counter_of(keys[k]));
      const unsigned rank = counter;
      meanwhile(k);
      counter = static_cast<std::uint8_t>(rank + 1);
      four = k % 4 == 0 ? rank : four | rank << k % 4 * 8;
    }
  }
}

}  // namespace upsweep::ladders::partition

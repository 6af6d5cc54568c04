// Converts heads of every kind to one bit per element: 3 % more traffic for 32-bit elements, but one kernel per rung
// instead of three.
#pragma once
#include "kernel/bytes.h"
#include "kernel/vector.h"
#include "kernel/warp.h"
#include "ladders/segmented_scan/contract.h"

namespace upsweep::ladders::segmented_scan {

// Head bits, one per position, numbered as in Aligned: the input begins at position `begin`, which is less than 16.
struct HeadBits {
  const unsigned* words;  // [head_words(begin, n)]
  // Returns the bits of positions [position, position + count), all of which must be in one word.
  __device__ unsigned at(std::size_t position, unsigned count = 1) const {
    return words[position / 32] >> position % 32 & ((2u << (count - 1)) - 1);
  }
};

// Loads 16 bytes from any address. Every aligned 4-byte word that overlaps these bytes must be readable.
__device__ __forceinline__ uint4 load_16_bytes(const void* from) {
  const unsigned shift = 8 * (reinterpret_cast<std::uintptr_t>(from) % 4);
  if (reinterpret_cast<std::uintptr_t>(from) % 16 == 0) return load_once(static_cast<const uint4*>(from));
  const auto* const words = reinterpret_cast<const unsigned*>(static_cast<const unsigned char*>(from) - shift / 8);
  unsigned word[5] = {words[0], words[1], words[2], words[3], shift ? words[4] : 0};
#pragma unroll
  for (unsigned k = 0; k < 4; ++k) word[k] = __funnelshift_r(word[k], word[k + 1], shift);
  return uint4{word[0], word[1], word[2], word[3]};
}

// Readers, one per kind of heads: operator() reads the head of one element; pack() reads `each` heads, as bits, from 16
// bytes; has_pack() says whether pack() stays within the array.
struct Flags {
  const std::uint8_t* flags;  // [n]
  std::size_t n;
  static constexpr unsigned each = 16;
  // load_16_bytes() may read up to 3 bytes beyond each end.
  __device__ bool has_pack(std::size_t i) const { return i >= 4 && i + each + 4 <= n; }
  __device__ bool operator()(std::size_t i) const { return flags[i] != 0; }
  __device__ unsigned pack(std::size_t i) const { return nonzero_bytes(load_16_bytes(flags + i)); }
};
struct Keys {
  const std::uint32_t* keys;  // [n]
  std::size_t n;
  static constexpr unsigned each = 4;
  __device__ bool has_pack(std::size_t i) const { return i >= 1 && i + each <= n; }
  __device__ bool operator()(std::size_t i) const { return keys[i] != keys[i - 1]; }  // i > 0: element 0 is a head
  __device__ unsigned pack(std::size_t i) const {
    const uint4 key = load_16_bytes(keys + i);
    return unsigned(key.x != keys[i - 1]) | unsigned(key.y != key.x) << 1 | unsigned(key.z != key.y) << 2 |
           unsigned(key.w != key.z) << 3;
  }
};
struct NoHeads {
  std::size_t n;
  static constexpr unsigned each = 16;
  __device__ bool has_pack(std::size_t i) const { return i >= 1 && i + each <= n; }
  __device__ bool operator()(std::size_t) const { return false; }
  __device__ unsigned pack(std::size_t) const { return 0; }
};

// Writes the head bits. Each lane computes the bits of `Kind::each` adjacent positions; 32 / each lanes combine them
// into a word.
template <class Kind>
__global__ void head_bits_kernel(Kind heads,
                                 unsigned* words,  // [count]
                                 std::size_t count, std::size_t begin) {
  constexpr unsigned each = Kind::each, lanes_per_word = 32 / each;
  const std::size_t thread = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x, position = thread * each;
  unsigned bits = 0;
  if (position > begin && heads.has_pack(position - begin)) {
    bits = heads.pack(position - begin);
  } else {
    for (unsigned k = 0; k < each; ++k)
      if (position + k >= begin && position + k - begin < heads.n)
        bits |= unsigned(position + k == begin || heads(position + k - begin)) << k;
  }
  bits <<= thread % lanes_per_word * each;
#pragma unroll
  for (unsigned distance = 1; distance < lanes_per_word; distance *= 2)
    bits |= __shfl_xor_sync(all_lanes, bits, int(distance));
  if (thread % lanes_per_word == 0 && thread / lanes_per_word < count) words[thread / lanes_per_word] = bits;
}

static __global__ void offsets_to_bits(const std::uint64_t* offsets,  // [segments]
                                       unsigned* words,               // zero, except for the bit of element 0
                                       std::size_t begin, std::size_t n, std::size_t segments) {
  const std::size_t k = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (k < segments && offsets[k] < n) atomicOr(&words[(begin + offsets[k]) / 32], 1u << (begin + offsets[k]) % 32);
}

inline std::size_t head_words(std::size_t begin, std::size_t n) { return ceil_div(begin + n, 32); }

// Writes the head bits on the stream: head_words(begin, n) words, or, if `room` is not 0, `room` words, zero past the
// end of the input.
inline Status make_head_bits(const Heads& heads, unsigned* words, std::size_t begin, std::size_t n, Stream stream,
                             std::size_t room = 0) {
  constexpr unsigned block = 256;
  const std::size_t count = room ? room : head_words(begin, n);
  const auto make = [&]<class Kind>(Kind kind) {
    const auto grid = static_cast<unsigned>(ceil_div(count * (32 / Kind::each), block));
    return launch(head_bits_kernel<Kind>, {.grid = grid, .block = block, .stream = stream}, kind, words, count, begin);
  };
  switch (heads.kind) {
    case HeadKind::flags:
      return make(Flags{static_cast<const std::uint8_t*>(heads.data), n});
    case HeadKind::keys:
      return make(Keys{static_cast<const std::uint32_t*>(heads.data), n});
    case HeadKind::offsets:
      break;
  }
  if (Status s = make(NoHeads{n}); !s || heads.segments == 0) return s;
  const auto grid = static_cast<unsigned>(ceil_div(heads.segments, block));
  return launch(offsets_to_bits, {.grid = grid, .block = block, .stream = stream},
                static_cast<const std::uint64_t*>(heads.data), words, begin, n, heads.segments);
}

}  // namespace upsweep::ladders::segmented_scan

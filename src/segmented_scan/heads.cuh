// Whichever way heads are given, kernels see a bit an element: 3 % of the traffic of 32-bit elements, and one kernel
// instead of three.
#pragma once
#include "kernel/block.h"
#include "segmented_scan/contract.h"

namespace upsweep::ladders::segmented_scan {

// Bit `position` of the words, as in scan::Aligned: the input begins at position `begin`, which is less than 16.
struct HeadBits {
  const unsigned* words;  // [head_words(begin, n)]
  // Of `count` positions from this one on, which do not cross a word.
  __device__ unsigned at(std::size_t position, unsigned count = 1) const {
    return words[position / 32] >> position % 32 & ((2u << (count - 1)) - 1);
  }
};

inline constexpr unsigned words_a_warp = 8;  // that many loads in flight a lane

template <class IsHead>
__device__ __forceinline__ void head_bits(unsigned* words, std::size_t count, std::size_t begin, std::size_t n,
                                          IsHead is_head) {
  const unsigned lane = threadIdx.x % warp_size;
  const std::size_t first = (std::size_t(blockIdx.x) * blockDim.x + threadIdx.x) / warp_size * words_a_warp;
#pragma unroll
  for (unsigned k = 0; k < words_a_warp; ++k) {
    const std::size_t position = (first + k) * warp_size + lane;
    const bool head = position >= begin && position - begin < n && (position == begin || is_head(position - begin));
    const unsigned word = __ballot_sync(all_lanes, head);
    if (lane == 0 && first + k < count) words[first + k] = word;
  }
}

static __global__ void flags_to_bits(const std::uint8_t* flags,  // [n]
                                     unsigned* words,            // [count]
                                     std::size_t count, std::size_t begin, std::size_t n) {
  head_bits(words, count, begin, n, [&](std::size_t i) { return flags[i] != 0; });
}
static __global__ void keys_to_bits(const std::uint32_t* keys,  // [n]
                                    unsigned* words,            // [count]
                                    std::size_t count, std::size_t begin, std::size_t n) {
  head_bits(words, count, begin, n, [&](std::size_t i) { return keys[i] != keys[i - 1]; });
}
static __global__ void first_bit(unsigned* words,  // [count]
                                 std::size_t count, std::size_t begin, std::size_t n) {
  head_bits(words, count, begin, n, [](std::size_t) { return false; });
}
static __global__ void offsets_to_bits(const std::uint64_t* offsets,  // [segments]
                                       unsigned* words,               // zero but for heads
                                       std::size_t begin, std::size_t n, std::size_t segments) {
  const std::size_t k = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (k < segments && offsets[k] < n) atomicOr(&words[(begin + offsets[k]) / 32], 1u << (begin + offsets[k]) % 32);
}

inline std::size_t head_words(std::size_t begin, std::size_t n) { return ceil_div(begin + n, 32); }

// words[0..head_words) from the heads, on the stream; where there is room for more, the others are 0.
inline Status make_head_bits(const Heads& heads, unsigned* words, std::size_t begin, std::size_t n, Stream stream,
                             std::size_t room = 0) {
  constexpr unsigned block = 256;
  const std::size_t count = room ? room : head_words(begin, n);
  const auto blocks = [](std::size_t threads) { return unsigned(ceil_div(threads, block)); };
  const Shape shape{.grid = blocks(ceil_div(count, words_a_warp) * warp_size), .block = block, .stream = stream};
  switch (heads.kind) {
    case HeadKind::flags:
      return launch(flags_to_bits, shape, static_cast<const std::uint8_t*>(heads.data), words, count, begin, n);
    case HeadKind::keys:
      return launch(keys_to_bits, shape, static_cast<const std::uint32_t*>(heads.data), words, count, begin, n);
    case HeadKind::offsets:
      break;
  }
  if (Status s = launch(first_bit, shape, words, count, begin, n); !s || heads.segments == 0) return s;
  return launch(offsets_to_bits, {.grid = blocks(heads.segments), .block = block, .stream = stream},
                static_cast<const std::uint64_t*>(heads.data), words, begin, n, heads.segments);
}

}  // namespace upsweep::ladders::segmented_scan

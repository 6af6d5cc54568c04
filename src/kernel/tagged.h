// What the tiles of a single-pass kernel tell each other: a value and the number of the call that wrote it, in one
// word, so that whoever reads the one has the other, without a fence.
//
// The boxes are not cleared between calls. A box that an earlier call wrote has that call's number, which is as good as
// empty: no kernel before this one, and none after it, has to clean up.
#pragma once
#include <cstring>

#include "kernel/ptx.h"

namespace upsweep {

// The state of such kernels, in Workspace::kept(): zero when first handed out, and then whatever the last call left.
struct TaggedBoxes {
  unsigned long long* words;  // [reserved + boxes]
  std::size_t count;          // of words

  static constexpr std::size_t reserved = 2;  // the number of the last call; two counters, zero between calls
  __host__ __device__ unsigned* counter() const { return reinterpret_cast<unsigned*>(words + 1); }
  __host__ __device__ unsigned* second_counter() const { return counter() + 1; }
  __host__ __device__ unsigned long long* boxes() const { return words + reserved; }

  // The number of the last call; this one's is the next. Every block asks before it gives, or takes, anything. By one
  // warp of a block: the same word for all warps of a grid is a queue of a microsecond at L2.
  __device__ unsigned long long last() const { return load_relaxed(words); }
  static __device__ unsigned call(unsigned long long last) { return static_cast<unsigned>(last) + 1; }
  // Numbers come again after 2^32 calls; what is left from the last time must not be taken for news. So twice on the
  // way, a call sees to it that every box has its number, or none: it writes all of its own, and empties the others.
  static __device__ bool cleans(unsigned call) { return (call & 0x7fffffffu) == 0x7fffffffu; }
  // By one thread, once every block has asked for the number: the next call gets another. `used` words of boxes are
  // this call's.
  __device__ void end(unsigned call, std::size_t used) const {
    if (cleans(call))
      for (std::size_t i = reserved + used; i < count; ++i) words[i] = 0;
    words[0] = call == 0xffffffffu ? 0 : call;  // 0 is no call's number
  }
};

// A box is 32 bits of value beside the number; 8-byte values take two.
template <class T>
inline constexpr unsigned words_per = sizeof(T) > 4 ? 2 : 1;

template <class T>
__device__ __forceinline__ void put_tagged(unsigned long long* box,  // [words_per<T>]
                                           unsigned call, T value) {
  unsigned half[words_per<T>] = {};
  memcpy(half, &value, sizeof value);
  for (unsigned k = 0; k < words_per<T>; ++k)
    store_relaxed(box + k, (static_cast<unsigned long long>(half[k]) << 32) | call);
}

// Looks into one box: false when this call has put nothing there yet.
template <class T>
__device__ __forceinline__ bool look_tagged(const unsigned long long* box, unsigned call, T& value) {
  bool here = true;
  unsigned half[words_per<T>];
#pragma unroll
  for (unsigned k = 0; k < words_per<T>; ++k) {
    const unsigned long long word = load_relaxed(box + k);
    here &= static_cast<unsigned>(word) == call;
    half[k] = static_cast<unsigned>(word >> 32);
  }
  memcpy(&value, half, sizeof(T));
  return here;
}

// Waits for the boxes index(0) to index(Count - 1), and gives their values. All loads of a round are in flight
// together.
template <unsigned Count, class T, class Index>
__device__ __forceinline__ void take_tagged(const unsigned long long* boxes, unsigned call, Index index,
                                            T (&values)[Count]) {
  constexpr unsigned each = words_per<T>;
  unsigned long long word[Count * each];
  bool here;
  do {
#pragma unroll
    for (unsigned v = 0; v < Count; ++v)
#pragma unroll
      for (unsigned k = 0; k < each; ++k) word[v * each + k] = load_relaxed(boxes + std::size_t(index(v)) * each + k);
    here = true;
#pragma unroll
    for (unsigned w = 0; w < Count * each; ++w) here &= static_cast<unsigned>(word[w]) == call;
    if (!here) spin_hint();
  } while (!here);
#pragma unroll
  for (unsigned v = 0; v < Count; ++v) {
    unsigned half[each];
#pragma unroll
    for (unsigned k = 0; k < each; ++k) half[k] = static_cast<unsigned>(word[v * each + k] >> 32);
    memcpy(&values[v], half, sizeof(T));
  }
}

}  // namespace upsweep

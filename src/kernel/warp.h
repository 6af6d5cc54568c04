// Shuffles, reductions and scans inside a warp.
#pragma once
#include <concepts>
#include <cstring>

#include "kernel/features.h"
#include "kernel/kernel.h"

namespace upsweep {

inline constexpr unsigned all_lanes = 0xffffffffu;

// Shuffles a value of any type. CUDA's intrinsics widen integers below 32 bits to int and take no structs, which are
// therefore shuffled word by word.
template <class T, class F>
__device__ __forceinline__ T word_by_word(T value, F&& shuffle_word) {
  if constexpr (std::is_arithmetic_v<T>) {
    return T(shuffle_word(value));
  } else {
    unsigned words[(sizeof(T) + 3) / 4] = {};
    memcpy(words, &value, sizeof(T));
#pragma unroll
    for (unsigned& word : words) word = shuffle_word(word);
    memcpy(static_cast<void*>(&value), words, sizeof(T));
    return value;
  }
}
// Returns the value of lane `lane`.
template <class T>
__device__ __forceinline__ T shuffle(T value, unsigned lane) {
  return word_by_word(value, [&](auto word) { return __shfl_sync(all_lanes, word, int(lane)); });
}
// Returns the value of the lane `distance` lanes below, or this lane's value if there is none.
template <class T>
__device__ __forceinline__ T shuffle_up(T value, unsigned distance) {
  return word_by_word(value, [&](auto word) { return __shfl_up_sync(all_lanes, word, distance); });
}
// Returns the value of the lane `distance` lanes above, or this lane's value if there is none.
template <class T>
__device__ __forceinline__ T shuffle_down(T value, unsigned distance) {
  return word_by_word(value, [&](auto word) { return __shfl_down_sync(all_lanes, word, distance); });
}
// Returns the value of lane (this lane XOR `lanes`).
template <class T>
__device__ __forceinline__ T shuffle_xor(T value, unsigned lanes) {
  return word_by_word(value, [&](auto word) { return __shfl_xor_sync(all_lanes, word, int(lanes)); });
}

// Returns the index of the lowest (highest) set bit of a nonzero word: in a ballot, the first (last) lane.
__device__ __forceinline__ unsigned lowest_bit(unsigned word) { return unsigned(__ffs(int(word))) - 1; }
__device__ __forceinline__ unsigned highest_bit(unsigned word) { return warp_size - 1 - unsigned(__clz(int(word))); }

// Bitwise OR, as an operator for the reductions below.
struct Or {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a | b;
  }
};

// True if devices with Feature::warp_reduce have an instruction for reductions of T by Op.
template <class T, class Op>
inline constexpr bool has_warp_instruction = std::is_integral_v<T> && sizeof(T) == 4 &&
                                             (std::is_same_v<Op, Sum> || std::is_same_v<Op, Min> ||
                                              std::is_same_v<Op, Max> || std::is_same_v<Op, Or>);

// Warp-wide reduction in one instruction. Every lane has the result.
template <class T, class Op>
__device__ __forceinline__ T warp_reduce_instruction(T value, Op) {
  static_assert(has_warp_instruction<T, Op>);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800  // never called there; nvcc does not declare the intrinsics
  return value;
#else
  if constexpr (std::is_same_v<Op, Sum>)
    return T(__reduce_add_sync(all_lanes, unsigned(value)));
  else if constexpr (std::is_same_v<Op, Or>)
    return T(__reduce_or_sync(all_lanes, unsigned(value)));
  else if constexpr (std::is_same_v<Op, Min>)
    return __reduce_min_sync(all_lanes, value);
  else
    return __reduce_max_sync(all_lanes, value);
#endif
}

// Warp-wide tree reduction, neighbours first. In lane order, with the result in lane 0 only; if `to_all`, with the
// result in every lane, but each lane combines the values in a different order.
template <bool to_all, class T, class Op>
__device__ __forceinline__ T warp_reduce_tree(T value, Op op) {
  for (unsigned d = 1; d < warp_size; d *= 2)
    value = op(value, to_all ? shuffle_xor(value, d) : shuffle_down(value, d));
  return value;
}

// Warp-wide reduction, in lane order. The result is valid in lane 0 only.
template <class T, class Op>
__device__ __forceinline__ T warp_reduce(T value, Op op) {
  if constexpr (has_warp_instruction<T, Op>)
    return has(Feature::warp_reduce) ? warp_reduce_instruction(value, op) : warp_reduce_tree<false>(value, op);
  else
    return warp_reduce_tree<false>(value, op);
}

// Like warp_reduce(), for commutative operators, with the result in every lane.
template <class T, class Op>
__device__ __forceinline__ T warp_reduce_all(T value, Op op) {
  if constexpr (has_warp_instruction<T, Op>)
    return has(Feature::warp_reduce) ? warp_reduce_instruction(value, op) : warp_reduce_tree<true>(value, op);
  else
    return warp_reduce_tree<true>(value, op);
}

// True if operands may be reordered: for the library's operators, which have their Op as a constant member `operation`.
// A user's operator need only be associative.
template <class Named>
inline constexpr bool commutes = requires {
  requires std::same_as<decltype(Named::operation), const Op>;
};

// Warp-wide inclusive scan, in lane order; lane 31 has the total.
template <class T, class Op>
__device__ __forceinline__ T warp_scan(T value, Op op) {
  const unsigned lane = threadIdx.x % warp_size;
  for (unsigned distance = 1; distance < warp_size; distance *= 2) {
    const T before = shuffle_up(value, distance);
    if (lane >= distance) value = op(before, value);
  }
  return value;
}

// Warp-wide inclusive scans of several rows of 32 values, one step for all rows at a time: the shuffles of a step are
// in flight together, so that the latency of the five steps is not paid per row. In row r, a lane combines its value
// with those of at most reach(r) lanes to its left; reach(r) = lane scans the whole row.
template <unsigned Rows, class T, class Op, class Reach>
__device__ __forceinline__ void warp_scans(T (&rows)[Rows], Op op, Reach&& reach) {
#pragma unroll
  for (unsigned distance = 1; distance < warp_size; distance *= 2) {
    T before[Rows];
#pragma unroll
    for (unsigned r = 0; r < Rows; ++r) before[r] = shuffle_up(rows[r], distance);
#pragma unroll
    for (unsigned r = 0; r < Rows; ++r)
      if (distance <= reach(r)) rows[r] = op(before[r], rows[r]);
  }
}

// Turns an inclusive scan into an exclusive one: returns the value of the lane to the left, or the neutral element in
// lane 0.
template <class T, class Op>
__device__ __forceinline__ T from_left_lane(T value, Op) {
  const T left = shuffle_up(value, 1);
  return threadIdx.x % warp_size == 0 ? Op::template neutral<T>() : left;
}

}  // namespace upsweep

// argmin and argmax on one core: finds the value of the extreme block by block, then its index in the first block that
// has it.
//
// The first loop keeps no indices, so it is as fast as a reduction to the value alone. Only one block is read twice.
#pragma once
#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "cpu/parallel.h"
#include "ladders/reduce/contract.h"
#include "ladders/reduce/cpu_wider.h"

namespace upsweep::ladders::reduce {

// Returns the index of the first element equal to *value, or of the first NaN if *value is NaN; n if there is none.
using SpanSearch = std::size_t (*)(const void* in, std::size_t n, const void* value);

// Returns the fastest search for this processor's vector width; null for types of 8 and 16 bits.
SpanSearch simd_search(Type type);

// The SpanSearch for elements of 8 and 16 bits. The inner loop never exits early, so that the compiler vectorises it.
template <class T>
std::size_t search_narrow(const void* memory, std::size_t n, const void* wanted) {
  constexpr std::size_t most = 256;
  const T* const in = static_cast<const T*>(memory);
  const auto value = *static_cast<const Accumulator<T>*>(wanted);
  const auto is_it = [value](T x) { return is_floating<T> && value != value ? x != x : Accumulator<T>(x) == value; };
  for (std::size_t i = 0; i < n; i += most) {
    const std::size_t end = std::min(i + most, n);
    bool any = false;
    for (std::size_t j = i; j < end; ++j) any |= is_it(in[j]);
    if (any)
      while (!is_it(in[i])) ++i;
    if (any) return i;
  }
  return n;
}

struct ExtremeLoops {
  SpanReduction cached, streamed;  // for data in caches and in memory, as in the simd rung
  SpanSearch search;
};
// Returns the loops for Op, which is ArgMin or ArgMax. Resolve once, call many times.
template <class T, class Op>
ExtremeLoops extreme_loops() {
  using Extreme = typename Op::Extreme;
  return {reduction_to<T, Extreme, Accumulator<T>>(From::caches),
          reduction_to<T, Extreme, Accumulator<T>>(From::memory),
          sizeof(T) < 4 ? &search_narrow<T> : simd_search(type_of<T>())};
}

// Bytes per block. With smaller blocks, the loop starts more often; larger blocks take longer to search for the index.
inline constexpr std::size_t extreme_block_bytes = 16 << 10;

// The first block whose extreme is the array's.
template <class T>
struct ExtremeBlock {
  Accumulator<T> extreme;
  std::size_t begin;
};

// Returns the first block that has the extreme of in[0..n). Op is ArgMin or ArgMax; n > 0.
template <class Op, class T>
ExtremeBlock<T> extreme_block(const T* in, std::size_t n, const ExtremeLoops& loops) {
  constexpr std::size_t size = extreme_block_bytes / sizeof(T);
  // Data in memory is read with narrower vectors, unless these must also check for NaN: then they do not keep up with
  // memory. One Zen 4 core, 2^22 elements, with wide and narrow vectors: f32 261 and 287 us, i32 232 and 216 us.
  const SpanReduction reduce = is_floating<T> || one_core(n * sizeof(T)) ? loops.cached : loops.streamed;
  ExtremeBlock<T> best{};
  reduce(in, std::min(size, n), &best.extreme);
  for (std::size_t begin = size; begin < n; begin += size) {
    if (best.extreme != best.extreme) break;  // no element beats the first NaN
    Accumulator<T> extreme;
    reduce(in + begin, std::min(size, n - begin), &extreme);
    if (Op::beats(extreme, best.extreme)) best = {extreme, begin};
  }
  return best;
}

// Returns the index in in[0..n) of the block's extreme.
template <class T>
std::size_t index_in(const T* in, std::size_t n, const ExtremeBlock<T>& block, const ExtremeLoops& loops) {
  return block.begin + loops.search(in + block.begin, n - block.begin, &block.extreme);
}

}  // namespace upsweep::ladders::reduce

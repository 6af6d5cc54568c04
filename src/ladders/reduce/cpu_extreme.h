// argmin and argmax on one core: the value of the extreme, block by block, then its index in the block that has it.
//
// The loop reads as fast as one that finds the value alone, because it keeps no indices. One block is read twice.
#pragma once
#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "cpu/parallel.h"
#include "ladders/reduce/cpu_simd.h"

namespace upsweep::ladders::reduce {

// Returns the index of the first element equal to *value, or of the first NaN if it is one; n if there is none.
using SpanSearch = std::size_t (*)(const void* in, std::size_t n, const void* value);

// Returns the best loop for this processor's vectors. Null for types of 8 and 16 bits.
SpanSearch simd_search(Type type);

struct ExtremeLoops {
  SpanReduction cached, streamed;  // as in the simd rung
  SpanSearch search;
};
// Op is ArgMin or ArgMax. Resolve once, call many times.
template <class T, class Op>
ExtremeLoops extreme_loops() {
  constexpr upsweep::Op extreme = Op::Extreme::operation;
  return {simd_reduction(type_of<T>(), extreme, From::caches), simd_reduction(type_of<T>(), extreme, From::memory),
          simd_search(type_of<T>())};
}

// Bytes per block. Smaller ones start the loop more often, larger ones take longer to search again.
inline constexpr std::size_t extreme_block_bytes = 16 << 10;

// The first block whose extreme is the array's.
template <class T>
struct ExtremeBlock {
  T extreme;
  std::size_t begin;
};

// Op is ArgMin or ArgMax; n > 0.
template <class Op, class T>
ExtremeBlock<T> extreme_block(const T* in, std::size_t n, const ExtremeLoops& loops) {
  constexpr std::size_t size = extreme_block_bytes / sizeof(T);
  // The narrow vectors for memory do not keep up with it if they must look for NaN too. One Zen 4 core, 2^22 elements,
  // in us with wide and narrow vectors: f32 261 and 287, i32 232 and 216.
  const SpanReduction reduce = std::is_floating_point_v<T> || one_core(n * sizeof(T)) ? loops.cached : loops.streamed;
  ExtremeBlock<T> best{};
  reduce(in, std::min(size, n), &best.extreme);
  for (std::size_t begin = size; begin < n; begin += size) {
    if (best.extreme != best.extreme) break;  // no element beats the first NaN
    T extreme;
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

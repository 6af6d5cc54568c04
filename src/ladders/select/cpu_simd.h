// What one core does with a part of the input, for the rungs that build on it.
#pragma once
#include <cstddef>

#include "cpu/cache.h"
#include "ladders/select/contract.h"

namespace upsweep::ladders::select {

// What a part has come to, or everything before it.
struct Found {
  std::size_t count = 0;  // elements that are selected, and
  std::size_t last = 0;   // run_length_encode: the position of the last of them
};
constexpr Found operator+(Found left, Found right) {
  return {left.count + right.count, right.count > 0 ? right.last : left.last};
}

// Loops over elements [begin, end) of what `args` says, an Args<T, O> of the type and operation they are for.
struct PartLoops {
  Found (*count)(const void* args, std::size_t begin, std::size_t end);
  // Writes what is selected behind what `before` has, and nothing else: other cores may write next to it. Of
  // partition_if also the rest, from `total` on. The last run's length is left to finish_runs. Returns before + part.
  // `stores` is a wish: only an operation whose values are all it writes goes around the caches.
  Found (*select)(const void* args, std::size_t begin, std::size_t end, Found before, std::size_t total, Stores stores);
};

// For this processor. Any type and selection. Resolve once, call many times.
PartLoops simd_loops(Type type, Selection selection);

template <class T, class O>
const PartLoops& loops_for() {
  static const PartLoops loops = simd_loops(type_of<T>(), O::selection);
  return loops;
}

// run_length_encode: the length of the last run, which nothing ends but the array.
template <class Args>
void finish_runs(const Args& a, Found all) {
  if (all.count > 0) a.out.positions.put(all.count - 1, a.in.n - all.last);
}

// All of it on the calling core.
template <class T, class O>
void select_on_one_core(const Args<T, O>& a) {
  const PartLoops& loops = loops_for<T, O>();
  const std::size_t total = writes_rest<O> ? loops.count(&a, 0, a.in.n).count : 0;
  const Found all = loops.select(&a, 0, a.in.n, {}, total, Stores::cached);
  if constexpr (writes_lengths<O>) finish_runs(a, all);
  *a.out.count = all.count;
}

}  // namespace upsweep::ladders::select

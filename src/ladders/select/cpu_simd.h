// The one-core loops over a part of the input, for the rungs that build on them.
#pragma once
#include <cstddef>

#include "cpu/cache.h"
#include "ladders/select/contract.h"
#include "upsweep/types.h"

namespace upsweep::ladders::select {

// The result of a part so far, or of everything before it.
struct Found {
  std::size_t count = 0;  // selected elements
  std::size_t last = 0;   // run_length_encode: the position of the last of them
};
constexpr Found operator+(Found left, Found right) {
  return {left.count + right.count, right.count > 0 ? right.last : left.last};
}

// Loops over elements [begin, end). `args` is an Args<T, O> of the type and operation that the loops are for.
struct PartLoops {
  Found (*count)(const void* args, std::size_t begin, std::size_t end);
  // Writes the selected elements from `before.count` on, and nothing past them: other cores may write there.
  // partition_if also writes the rest, from `total` on. The last run's length is left to finish_runs. Returns before +
  // part. `stores` is a hint: only operations that write nothing but values use non-temporal stores.
  Found (*select)(const void* args, std::size_t begin, std::size_t end, Found before, std::size_t total, Stores stores);
};

// Returns the loops for this processor, for any type and selection. Resolve once, call many times.
PartLoops simd_loops(Type type, Selection selection);

template <class T, class O>
const PartLoops& loops_for() {
  static const PartLoops loops = simd_loops(type_of<T>(), O::operation);
  return loops;
}

// Writes the length of the last run of run_length_encode, which ends with the array.
template <class Args>
void finish_runs(const Args& a, Found all) {
  if (all.count > 0) a.out.positions.put(all.count - 1, a.in.n - all.last);
}

// Selects from the whole input on the calling core.
template <class T, class O>
void select_on_one_core(const Args<T, O>& a) {
  const PartLoops& loops = loops_for<T, O>();
  const std::size_t total = writes_rest<O> ? loops.count(&a, 0, a.in.n).count : 0;
  const Found all = loops.select(&a, 0, a.in.n, {}, total, Stores::cached);
  if constexpr (writes_lengths<O>) finish_runs(a, all);
  *a.out.count = all.count;
}

}  // namespace upsweep::ladders::select

// The one-core loops over a part of the input, for rungs that build on them.
#pragma once
#include <cstddef>

#include "base/call.h"
#include "cpu/cache.h"
#include "ladders/select/contract.h"
#include "upsweep/types.h"

namespace upsweep::ladders::select {

// A summary of the selection in a part so far, or in all earlier parts.
struct Found {
  std::size_t count = 0;  // selected elements
  std::size_t last = 0;   // position of the last one, for run_length_encode
};
constexpr Found operator+(Found left, Found right) {
  return {left.count + right.count, right.count > 0 ? right.last : left.last};
}

// Loops over elements [begin, end) of a call.
struct PartLoops {
  Found (*count)(const Call& c, std::size_t begin, std::size_t end);
  // Writes the part's selected elements at output index `before.count`, and nothing past them, because other cores may
  // be writing there. partition_if also writes the rest, after the `total` elements selected in the whole input. The
  // length of the last run is left to finish(). Returns `before` plus the part's selection. `stores` is a hint: only
  // operations that write values alone use non-temporal stores.
  Found (*select)(const Call& c, std::size_t begin, std::size_t end, Found before, std::size_t total, Stores stores);
};

// Returns the loops for this processor, for any type and selection. Resolve once, call many times.
PartLoops simd_loops(Type type, Selection selection);
inline PartLoops loops_for(const Call& c) { return simd_loops(c.type(), c.operation.as<Selection>()); }
// The units to which simd_loops() delegates: for partition_if, and for the selections that compare neighbours.
PartLoops partition_loops(Type type);
PartLoops run_loops(Type type, Selection selection);

// Writes the number of selected elements, and for run_length_encode the length of the last run, which ends with the
// input.
inline void finish(const Call& c, Found all) {
  if (traits(c.operation.as<Selection>()).lengths && all.count > 0) {
    const Array& lengths = c.out[2];
    Positions{lengths.data, size_of(lengths.type) == 8}.put(all.count - 1, c.n() - all.last);
  }
  *c.out[1].as<std::uint64_t>() = all.count;
}

// Selects from the whole input on the calling core.
inline void select_on_one_core(const Call& c) {
  const PartLoops loops = loops_for(c);
  const bool writes_rest = traits(c.operation.as<Selection>()).rest;
  const std::size_t total = writes_rest ? loops.count(c, 0, c.n()).count : 0;
  finish(c, loops.select(c, 0, c.n(), {}, total, Stores::cached));
}

}  // namespace upsweep::ladders::select

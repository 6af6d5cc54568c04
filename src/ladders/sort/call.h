// The contents of a Call of sort.
#pragma once
#include "base/call.h"
#include "ladders/sort/contract.h"

namespace upsweep::ladders::sort {

// True if a call wants the indices of its keys. Without keys there are no values either, and it wants nothing.
inline bool wants_indices(const Call& c) { return c.n() > 0 && c.in[1].count == 0 && c.out[1].count > 0; }

// Bytes per key of the values, or of the indices; 0 without both.
inline unsigned value_bytes(const Call& c) {
  if (wants_indices(c)) return static_cast<unsigned>(size_of(c.out[1].type));
  return c.n() == 0 ? 0 : static_cast<unsigned>(c.in[1].bytes() / c.n());
}

}  // namespace upsweep::ladders::sort

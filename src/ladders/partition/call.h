// The contents of a Call of partition.
#pragma once
#include "base/call.h"
#include "ladders/partition/contract.h"

namespace upsweep::ladders::partition {

inline std::size_t bucket_count(const Call& c) {
  if (c.operation.as<Bucketing>() == Bucketing::splitters) return c.in[2].count + 1;
  return std::size_t{1} << partition_scalars.read(c.scalars).bits;
}

// Bytes per key of the values; 0 without values.
inline unsigned value_bytes(const Call& c) { return c.n() == 0 ? 0 : static_cast<unsigned>(c.in[1].bytes() / c.n()); }

}  // namespace upsweep::ladders::partition

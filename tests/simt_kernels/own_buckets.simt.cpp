// The partition ladder's lane_counters with buckets of a user-defined function, which does not order the keys.
#include "test_kernel.h"
#include "upsweep/partition.cuh"  // the public entry; calling it needs the library, which is not linked here

namespace upsweep::test {
namespace {

struct Hash {
  unsigned buckets;
  UPSWEEP_HD unsigned operator()(std::uint32_t key) const { return (key * 2654435769u >> 16) % buckets; }
};
static_assert(DeviceBuckets<Hash, std::uint32_t>);

Status hashed(const Call& c) {
  const unsigned buckets = static_cast<unsigned>(c.out[2].count - 1);
  return ladders::partition::lane_counters::run<std::uint32_t, ladders::partition::ByFunction<Hash>>(
      {c.execution(),
       {in<std::uint32_t>(c), c.n(), {Hash{buckets}, buckets}},
       out<std::uint32_t>(c),
       {c.in[1].data, c.out[1].data, c.in[1].data ? 4u : 0u},
       {c.out[2].data, false}});
}

constexpr Rung rung = make_rung<hashed>("hashed");

}  // namespace

Rungs own_bucket_kernels() {
  static constexpr const Rung* all[] = {&rung};
  return all;
}

}  // namespace upsweep::test

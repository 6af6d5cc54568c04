// The partition ladder with a user-defined bucket function, which does not order the keys.
#include "test_kernel.h"
#include "upsweep/partition.cuh"  // the public entry point; not called, because the library is not linked

namespace upsweep::test {
namespace {

struct Hash {
  unsigned buckets;
  UPSWEEP_HD unsigned operator()(std::uint32_t key) const { return (key * 2654435769u >> 16) % buckets; }
};
static_assert(DeviceBuckets<Hash, std::uint32_t>);

Status hashed(const Call& c) {
  using namespace ladders::partition;
  const unsigned buckets = static_cast<unsigned>(c.out[2].count - 1);
  const bool has_values = c.in[1].data;
  const Args<std::uint32_t, ByFunction<Hash>> args{c.execution(),
                                                   {in<std::uint32_t>(c), c.n(), {Hash{buckets}, buckets}},
                                                   out<std::uint32_t>(c),
                                                   {c.in[1].data, c.out[1].data, has_values ? 4u : 0u},
                                                   {c.out[2].data, false}};
  if (buckets <= max_counted) return lane_counters::run(args);
  return has_values ? passes_in_tile::run(args) : overlapped_writes::run(args);
}

constexpr Rung rung = make_rung<hashed>("hashed");

}  // namespace

Rungs own_bucket_kernels() {
  static constexpr const Rung* all[] = {&rung};
  return all;
}

}  // namespace upsweep::test

// partition/write_combining: one core; each bucket fills a cache line, which is copied to the output when full.
//
// Idea      a scattered store costs a cache miss, and often a TLB miss: pay them once per line, not per key. The lines
//           of 512 buckets fill L1. Lines are copied whole, so they need not be read first: if the output exceeds the
//           caches, the stores are non-temporal.
// Traffic   keys read twice, values once, both written once; without non-temporal stores, the output is also read.
// Order     stable.
// Source    Satish et al., Fast Sort on CPUs and GPUs, 2010; Wassenberg, Sanders, Engineering a Multi-core Radix Sort,
//           2011.
#include "ladders/partition/binding.h"
#include "ladders/partition/cpu_cores.h"

namespace upsweep::ladders::partition {

namespace {  // a rung of the same name may exist on the GPU

struct write_combining {
  static constexpr Story story{
      .idea = "each bucket fills a line in L1, copied whole, with non-temporal stores if the output exceeds the caches",
      .prediction = "a miss per line, not per key: 4 times serial's speed from memory, until the lines exceed L2",
      .guarantees = "stable",
      .limits = "any n; one core",
      .source = "Satish et al., Fast Sort on CPUs and GPUs, 2010; Wassenberg, Sanders, 2011"};
  static constexpr bool takes_scratch = true;

  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    return PassOnCores<T, O>(
               a, {.way = Way::combine, .chunk = most_per_chunk, .stores = stores_for(a.in.n * element_bytes(a))})
        .run();
  }
};

}  // namespace

extern const Rung cpu_write_combining_rung = make_rung<Binding, write_combining>("write_combining", Backend::cpu);

}  // namespace upsweep::ladders::partition

// partition/write_combining: one core; a line of each bucket is collected, and copied to the output when it is full.
//
// Idea      a store to one of many places costs a cache miss, and often a TLB miss: pay them once per line, not per
//           key. The lines of 512 buckets are as large as L1. A copied line is whole, so that it need not be read
//           first: where the output exceeds the caches, the stores go around them.
// Traffic   keys read twice, values once, both written once; without the stores around the caches, the output is read.
// Order     the input's.
// Source    Satish et al., Fast Sort on CPUs and GPUs, 2010; Wassenberg, Sanders, Engineering a Multi-core Radix Sort,
//           2011.
#include "ladders/partition/binding.h"
#include "ladders/partition/cpu_cores.h"

namespace upsweep::ladders::partition {

namespace {  // a rung of the same name may exist on the GPU

struct write_combining {
  static constexpr Story story{
      .idea = "a line of each bucket is collected in L1 and copied whole, around the caches if the output exceeds them",
      .prediction = "a miss per line, not per key: 4 times serial from memory, until the lines exceed L2",
      .guarantees = "stable",
      .limits = "any n; one core",
      .source = "Satish et al., Fast Sort on CPUs and GPUs, 2010; Wassenberg, Sanders, 2011"};

  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    return Pass<T, O>(a,
                      {.way = Way::combine, .chunk = most_per_chunk, .stores = stores_for(a.in.n * element_bytes(a))})
        .run();
  }
};

}  // namespace

extern const Rung cpu_write_combining_rung = make_rung<Binding, write_combining>("write_combining", Backend::cpu);

}  // namespace upsweep::ladders::partition

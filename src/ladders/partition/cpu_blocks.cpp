// partition/blocks: one core; a block of keys is partitioned in L2, then each bucket's whole lines are copied.
//
// Idea      write_combining tests after every element whether a line is full: with 256 buckets, a mispredicted branch
//           every 16 keys. Here a block of keys is scattered within L2, into one run per bucket, which begins with the
//           partial line left by the previous block; then one loop per bucket copies its whole lines.
// Traffic   as write_combining, plus a count per block and bucket.
// Order     stable.
// Source    Polychroniou, Ross, A Comprehensive Study of Main-Memory Partitioning, 2014; Obeya et al., 2019.
#include "ladders/partition/binding.h"
#include "ladders/partition/cpu_cores.h"

namespace upsweep::ladders::partition {

namespace {  // a rung of the same name may exist on the GPU

struct blocks {
  static constexpr Story story{
      .idea =
          "a block is partitioned in L2, then each bucket's whole lines are copied; partial lines join the next block",
      .prediction = "no branch per line: half the cycles per key of write_combining",
      .guarantees = "stable",
      .limits = "any n; one core",
      .source = "Polychroniou, Ross, A Comprehensive Study of Main-Memory Partitioning, 2014"};
  static constexpr bool takes_scratch = true;

  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    const std::size_t block = block_for(a.in.buckets.count, element_bytes(a));
    return PassOnCores<T, O>(a, {.way = Way::blocks,
                                 .chunk = most_per_chunk / block * block,
                                 .block = block,
                                 .stores = stores_for(a.in.n * element_bytes(a))})
        .run();
  }
};

}  // namespace

extern const Rung cpu_blocks_rung = make_rung<Binding, blocks>("blocks", Backend::cpu);

}  // namespace upsweep::ladders::partition

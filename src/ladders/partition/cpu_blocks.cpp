// partition/blocks: one core; a block is partitioned in the cache, then each bucket's lines are copied.
//
// Idea      write_combining asks after every element whether a line is full, and jumps when it is: with 256 buckets, a
//           mispredicted branch every 16 keys. Here a block of keys is scattered within the L2, where its buckets lie
//           one after another, each beginning with the part of a line that the block before left; then the whole lines
//           of each are copied in one loop.
// Traffic   as write_combining, and a count per block and bucket.
// Order     the input's.
// Source    Polychroniou, Ross, A Comprehensive Study of Main-Memory Partitioning, 2014; Obeya et al., 2019.
#include "ladders/partition/binding.h"
#include "ladders/partition/cpu_cores.h"

namespace upsweep::ladders::partition {

namespace {  // a rung of the same name may exist on the GPU

struct blocks {
  static constexpr Story story{
      .idea =
          "a block is partitioned in L2, then each bucket's whole lines are copied; the rest waits for the next block",
      .prediction = "no branch per line: half as many cycles per key as write_combining",
      .guarantees = "stable",
      .limits = "any n; one core",
      .source = "Polychroniou, Ross, A Comprehensive Study of Main-Memory Partitioning, 2014"};

  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    const std::size_t block = block_for(a.in.buckets.count, element_bytes(a));
    return Pass<T, O>(a, {.way = Way::blocks,
                          .chunk = most_per_chunk / block * block,
                          .block = block,
                          .stores = stores_for(a.in.n * element_bytes(a))})
        .run();
  }
};

}  // namespace

extern const Rung cpu_blocks_rung = make_rung<Binding, blocks>("blocks", Backend::cpu);

}  // namespace upsweep::ladders::partition

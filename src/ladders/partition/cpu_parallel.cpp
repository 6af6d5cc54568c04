// partition/parallel: all cores; keys are moved in the way that is fastest for the input size and the number of
// buckets.
//
// Idea      keys are cut into chunks; a chunk is counted by one core and moved by one core, which may be another. A
//           scan of the counts in bucket-major order gives each chunk its offsets. If the output fits in the cache,
//           keys move one by one, otherwise in blocks. Small inputs use one core or all cores, whichever was faster in
//           recent calls; a single core keeps its counts in the array of offsets.
// Traffic   keys read twice, values once, both written once; a count per bucket and chunk, or block.
// Order     stable: chunks, and the keys of a chunk, keep the order of the input.
// Source    Zagha, Blelloch, Radix Sort for Vector Multiprocessors, 1991.
#include "cpu/one_or_all.h"
#include "ladders/partition/binding.h"
#include "ladders/partition/cpu_cores.h"

namespace upsweep::ladders::partition {

namespace {  // a rung of the same name may exist on the GPU

// Partitions on one core. The array of offsets, or a 32-bit copy of it, holds the counts and then the next offsets,
// those of bucket b in element b + 1: once all keys are moved, a bucket's next offset is where the following bucket
// begins.
template <class T>
Status scatter_on_one_core(const Args<T, By<Bucketing::digit>>& a) {
  const unsigned buckets = a.in.buckets.count;
  Scratch scratch(*a.workspace);
  auto* const tables = scratch.take<std::uint32_t>(table_words(buckets));
  auto* const offsets =
      a.offsets.wide ? scratch.take<std::uint32_t>(buckets + 1) : static_cast<std::uint32_t*>(a.offsets.array);
  if (!scratch) return no_memory;
  if (a.stream.dry) return {};
  std::fill_n(offsets, buckets + 1, 0u);
  const Loops loops = simd_loops(sizeof(T), a.values.bytes, false);
  const Part all{a.in.keys, a.values.in, a.keys, a.values.out, a.in.buckets.first_bit, buckets,
                 nullptr,   nullptr,     0,      a.in.n};
  loops.count(all, offsets + 1, tables);
  std::uint32_t sum = 0;
  for (unsigned b = 1; b <= buckets; ++b) sum += std::exchange(offsets[b], sum);
  loops.scatter(all, offsets + 1);
  if (a.offsets.wide)
    for (unsigned b = 0; b <= buckets; ++b) a.offsets.put(b, offsets[b]);
  return {};
}

template <class T, class O>
Status run_plan(const Args<T, O>& a, const Plan& plan) {
  if constexpr (O::operation == Bucketing::digit)
    if (plan.way == Way::scatter && plan.cores == 1) return scatter_on_one_core(a);
  return PassOnCores<T, O>(a, plan).run();
}

struct parallel {
  static constexpr Story story{
      .idea =
          "each core counts and moves chunks of keys: one by one if the output fits in the cache, otherwise in blocks",
      .prediction = "the speed of blocks times the cores, up to the memory bandwidth",
      .guarantees = "stable",
      .limits = "any n; params: threads",
      .source = "Zagha, Blelloch, Radix Sort for Vector Multiprocessors, 1991"};
  static constexpr bool takes_scratch = true;

  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    const auto plan_on = [&a](int threads) {
      return plan_for(a.in.n, a.in.buckets.count, sizeof(T), a.values.bytes, threads);
    };
    const Plan plan = plan_on(threads_of(a.tuning));
    if (plan.cores == 1 || a.tuning.threads || a.in.n >= surely_for_cores) return run_plan(a, plan);
    if (a.stream.dry) {  // the scratch must suffice for either plan
      if (const Status status = run_plan(a, plan); !status) return status;
      return run_plan(a, plan_on(1));
    }
    static AlikeCalls<surely_for_cores, max_buckets, sizeof(Wide)> alike("partition", "keys", "buckets",
                                                                         "bytes of a value");
    OneOrAll& way = alike(a.in.n, a.in.buckets.count, a.values.bytes);
    return way.call([&](bool all) { return run_plan(a, all ? plan : plan_on(1)); });
  }
};

}  // namespace

extern const Rung cpu_parallel_rung = make_rung<Binding, parallel>("parallel", Backend::cpu);

}  // namespace upsweep::ladders::partition

// partition/parallel: all cores, and the way to move that is fastest for the size and the number of buckets.
//
// Idea      keys are cut into chunks; each is counted by one core and moved by one. The counts are added up bucket by
//           bucket, and in a bucket chunk by chunk, so that each chunk knows where its keys of a bucket go. While the
//           output is in the cache, keys move one by one; else in blocks. Few keys take one core, or all, whichever has
//           been faster lately; one core's only table is the array of offsets.
// Traffic   keys read twice, values once, both written once; a count per bucket and chunk, or block.
// Order     the input's: chunks are in order, and so are the keys of a chunk.
// Source    Zagha, Blelloch, Radix Sort for Vector Multiprocessors, 1991.
#include "cpu/one_or_all.h"
#include "ladders/partition/binding.h"
#include "ladders/partition/cpu_cores.h"

namespace upsweep::ladders::partition {

namespace {  // a rung of the same name may exist on the GPU

// The counts, and then the places, are in the array of offsets, or a narrower copy of it, one past where they belong:
// when all keys are moved, the place of a bucket is where the next one begins.
template <class T>
Status scatter_on_one_core(const Args<T, By<Bucketing::digit>>& a) {
  const unsigned buckets = a.in.buckets.count;
  const std::size_t words = table_words(buckets) + (a.offsets.wide ? buckets + 1 : 0);
  auto* const tables = static_cast<std::uint32_t*>(a.workspace->scratch(words * sizeof(std::uint32_t)));
  if (!tables) return no_memory;
  auto* const offsets =
      a.offsets.wide ? tables + table_words(buckets) : static_cast<std::uint32_t*>(a.offsets.array);
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
  return Pass<T, O>(a, plan).run();
}

struct parallel {
  static constexpr Story story{
      .idea =
          "each core counts and moves chunks of the keys: one by one while the output is in the cache, else in blocks",
      .prediction = "cores times blocks, up to the memory's speed",
      .guarantees = "stable",
      .limits = "any n; params: threads",
      .source = "Zagha, Blelloch, Radix Sort for Vector Multiprocessors, 1991"};

  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    const auto plan_on = [&a](int threads) {
      return plan_for(a.in.n, a.in.buckets.count, sizeof(T), a.values.bytes, threads);
    };
    const Plan plan = plan_on(threads_of(a.tuning));
    if (plan.cores == 1 || a.tuning.threads || a.in.n >= surely_for_cores) return run_plan(a, plan);
    static AlikeCalls<surely_for_cores, max_buckets, sizeof(Wide)> alike;
    OneOrAll& way = alike(a.in.n, a.in.buckets.count, a.values.bytes);
    return way.call([&](bool all) { return run_plan(a, all ? plan : plan_on(1)); });
  }
};

}  // namespace

extern const Rung cpu_parallel_rung = make_rung<Binding, parallel>("parallel", Backend::cpu);

}  // namespace upsweep::ladders::partition

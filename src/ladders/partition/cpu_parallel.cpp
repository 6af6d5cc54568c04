// partition/parallel: all cores, and the way to move that is fastest for the size and the number of buckets.
#include "ladders/partition/binding.h"
#include "ladders/partition/cpu_cores.h"

namespace upsweep::ladders::partition {

namespace {  // a rung of the same name may exist on the GPU

// Least elements for more than one core, and least per bucket and core: these pay for a fork, a join and the counters.
constexpr std::size_t least_for_cores = std::size_t{1} << 14, least_per_counter = 32;
// Few buckets: their elements wait for one another's stores, and the ends of equally large buckets share cache sets.
constexpr unsigned few_buckets = 32;

template <class T, class O>
Plan plan_for(const Args<T, O>& a, int threads) {
  const std::size_t n = a.in.n, buckets = a.in.buckets.count, bytes = n * element_bytes(a);
  const bool pays = n >= least_for_cores && n >= least_per_counter * buckets * static_cast<std::size_t>(threads);
  Plan p;
  p.cores = pays ? threads : 1;
  const auto cores = static_cast<std::size_t>(p.cores);
  const std::size_t reach = std::size_t{n <= 256 * buckets ? 8u : 4u} << 20;
  const bool near = bytes < std::min(reach, last_level_cache_bytes() / 4);
  if (near && buckets > few_buckets) {
    p.chunk = n / cores + 1;
    return p;
  }
  p.way = Way::blocks;
  p.stores = near ? Stores::cached : Stores::around;
  p.block = near ? std::min(block_for(a), std::size_t{1} << 13) : block_for(a);
  const std::size_t least = std::max(2 * p.block, 256 * buckets);
  const std::size_t chunks = std::clamp(n / least, cores, 8 * cores);
  p.chunk = (n / chunks / p.block + 1) * p.block;
  return p;
}

// One core: the counts and then the places are in the array of offsets itself, one past where they belong. Each place
// ends where the next bucket begins.
template <class T, class O>
Status scatter_at_once(const Args<T, O>& a) {
  auto* const offsets = static_cast<std::uint32_t*>(a.offsets.array);
  const unsigned buckets = a.in.buckets.count;
  auto* const tables = static_cast<std::uint32_t*>(a.workspace->scratch(table_words(buckets) * sizeof(std::uint32_t)));
  if (!tables) return no_memory;
  const Loops loops = simd_loops(sizeof(T), a.values.bytes, false);
  const Part all{a.in.keys, a.values.in, a.keys, a.values.out, a.in.buckets.first_bit, buckets, nullptr, 0, a.in.n};
  std::fill_n(offsets, buckets + 1, 0u);
  loops.count(all, offsets + 1, tables);
  std::uint32_t sum = 0;
  for (unsigned b = 1; b <= buckets; ++b) sum += std::exchange(offsets[b], sum);
  loops.scatter(all, offsets + 1);
  return {};
}

struct parallel {
  static constexpr Story story{
      .idea = "each core counts and moves chunks of the keys: one by one if the output is near, else in blocks",
      .prediction = "cores times blocks, up to the memory's speed",
      .guarantees = "stable",
      .limits = "any n; params: threads",
      .source = "Zagha, Blelloch, Radix Sort for Vector Multiprocessors, 1991"};

  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    const Plan plan = plan_for(a, threads_of(a.tuning));
    if constexpr (O::bucketing == Bucketing::digit)
      if (plan.way == Way::scatter && plan.cores == 1) return scatter_at_once(a);
    return Pass<T, O>(a, plan).run();
  }
};

}  // namespace

extern const Rung cpu_parallel_rung = make_rung<Binding, parallel>("parallel", Backend::cpu);

}  // namespace upsweep::ladders::partition

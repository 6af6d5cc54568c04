// partition/parallel: all cores, and the way to move that is fastest for the size and the number of buckets.
//
// Idea      keys are cut into chunks; each is counted by one core and moved by one. The counts are added up bucket by
//           bucket, and in a bucket chunk by chunk, so that each chunk knows where its keys of a bucket go. While the
//           output is in the cache, keys move one by one; else in blocks. Few keys take one core, whose only table is
//           the array of offsets.
// Traffic   keys read twice, values once, both written once; a count per bucket and chunk, or block.
// Order     the input's: chunks are in order, and so are the keys of a chunk.
// Source    Zagha, Blelloch, Radix Sort for Vector Multiprocessors, 1991.
#include "ladders/partition/binding.h"
#include "ladders/partition/cpu_cores.h"

namespace upsweep::ladders::partition {

namespace {  // a rung of the same name may exist on the GPU

// What pays for a fork, a join and another core's counters: elements, and bytes written per bucket and core. One core
// and two, M keys/s: 2^14 keys into 2^8 813 and 1000, into 2^10 708 and 620; 2^17 keys into 2^12 594 and 882.
constexpr std::size_t least_for_cores = std::size_t{1} << 14, least_bytes_per_counter = 64;

// The ends of a few equally large buckets share sets of the caches; in a block they are closer. Two cores, M keys/s one
// by one and in blocks: 2^14 keys into 2^4 494 and 1047, into 2^5 648 and 1206, into 2^6 1198 and 1186.
constexpr std::size_t few_buckets = 32;
// One core, into 2^4, one by one and as a block: 2^10 keys 513 and 446, 2^12 keys 259 and 454.
constexpr std::size_t least_for_blocks = std::size_t{1} << 11;

// A chunk has a partial line at both ends of every bucket. 2^24 keys into 2^12 in blocks of 2^18: 898 M keys/s in 2
// chunks, 874 in 4, 801 in 16. More chunks help only a core that loses its time slice.
constexpr std::size_t least_per_chunk_and_bucket = 2048;

template <class T, class O>
Plan plan_for(const Args<T, O>& a, int threads) {
  const std::size_t n = a.in.n, buckets = a.in.buckets.count, all_threads = static_cast<std::size_t>(threads);
  const bool all = n >= least_for_cores && n * element_bytes(a) >= least_bytes_per_counter * buckets * all_threads;
  Plan p;
  p.cores = all ? threads : 1;
  std::size_t cores = all ? all_threads : 1;
  // Keys move fastest one by one while the output takes little of the last-level cache: an eighth, or a fourth if the
  // buckets are so small that their ends lie in all sets. Two cores with 32 MiB, M keys/s one by one and in blocks:
  // 2^19 keys into 2^10 1110 and 1071, into 2^12 1130 and 598; 2^20 keys into 2^10 697 and 1058, into 2^12 1108 and
  // 645.
  const std::size_t bytes = n * std::max<std::size_t>(sizeof(T), a.values.bytes);  // of the larger array
  const bool near = bytes < last_level_cache_bytes() / (n <= 256 * buckets ? 4 : 8);
  if (near && (buckets > few_buckets || n < least_for_blocks)) {
    p.chunk = std::max<std::size_t>((n + cores - 1) / cores, 1);
    return p;
  }
  p.way = Way::blocks;
  // Each core should have whole lines of each bucket.
  cores = std::clamp<std::size_t>(n / (least_per_bucket * buckets), 1, cores);
  p.cores = static_cast<int>(cores);
  p.stores = near ? Stores::cached : Stores::around;
  p.block = std::min(block_for(a.in.buckets.count, element_bytes(a)), (n + cores - 1) / cores);
  const std::size_t blocks = (n + p.block - 1) / p.block;
  // 8 chunks per core, if they are large enough.
  const std::size_t least = std::max(2 * p.block, least_per_chunk_and_bucket * buckets);
  const std::size_t chunks = std::clamp(n / least, cores, 8 * cores);
  p.chunk = std::min((blocks + chunks - 1) / chunks, most_per_chunk / p.block) * p.block;
  return p;
}

// The counts, and then the places, are in the array of offsets, one past where they belong: when all keys are moved,
// the place of a bucket is where the next one begins.
template <class T>
Status scatter_on_one_core(const Args<T, By<Bucketing::digit>>& a) {
  const unsigned buckets = a.in.buckets.count;
  auto* const tables = static_cast<std::uint32_t*>(a.workspace->scratch(table_words(buckets) * sizeof(std::uint32_t)));
  if (!tables) return no_memory;
  auto* const offsets = static_cast<std::uint32_t*>(a.offsets.array);
  std::fill_n(offsets, buckets + 1, 0u);
  const Loops loops = simd_loops(sizeof(T), a.values.bytes, false);
  const Part all{a.in.keys, a.values.in, a.keys, a.values.out, a.in.buckets.first_bit, buckets, nullptr, 0, a.in.n};
  loops.count(all, offsets + 1, tables);
  std::uint32_t sum = 0;
  for (unsigned b = 1; b <= buckets; ++b) sum += std::exchange(offsets[b], sum);
  loops.scatter(all, offsets + 1);
  return {};
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
    const Plan plan = plan_for(a, threads_of(a.tuning));
    if constexpr (O::bucketing == Bucketing::digit)
      if (plan.way == Way::scatter && plan.cores == 1) return scatter_on_one_core(a);
    return Pass<T, O>(a, plan).run();
  }
};

}  // namespace

extern const Rung cpu_parallel_rung = make_rung<Binding, parallel>("parallel", Backend::cpu);

}  // namespace upsweep::ladders::partition

// Partitions on one or more cores, with the loops of cpu_simd.h.
#pragma once
#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>

#include "cpu/parallel.h"
#include "ladders/partition/contract.h"
#include "ladders/partition/cpu_simd.h"

namespace upsweep::ladders::partition {

enum class Way : std::uint8_t { scatter, combine, blocks };  // as in Loops

// The plan by which a pass moves its elements.
struct Plan {
  Way way = Way::scatter;
  int cores = 1;
  std::size_t chunk;      // elements per chunk, the unit that a core claims: whole blocks, at most most_per_chunk
  std::size_t block = 0;  // elements per block of Way::blocks
  Stores stores = Stores::cached;
};

// Maximum elements per chunk: counts have 32 bits.
inline constexpr std::size_t most_per_chunk = std::size_t{1} << 31;

// The steps of a pass, on all its cores: count, scan, move.
class Steps {
 public:
  // `all`: elements [0, n). `key_bytes` and `value_bytes` are sizes in the output.
  Steps(const Part& all, unsigned key_bytes, unsigned value_bytes, const Loops& loops, const Plan& plan)
      : p_(plan), loops_(loops), n_(all.end), buckets_(all.buckets), words_(in_lines(all.buckets)), all_(all) {
    row_ = p_.way == Way::blocks ? p_.block : p_.chunk;
    rows_ = (n_ + row_ - 1) / row_;
    chunks_ = (n_ + p_.chunk - 1) / p_.chunk;
    own_bytes_ = table_words(buckets_) * sizeof(std::uint32_t);
    if (p_.way == Way::combine) own_bytes_ = std::max(own_bytes_, combine_bytes(buckets_, key_bytes, value_bytes));
    if (p_.way == Way::blocks)
      own_bytes_ = std::max(own_bytes_, blocks_bytes(p_.block, buckets_, key_bytes, value_bytes));
  }

  // Takes the scratch that run() needs.
  void take(Scratch& scratch) {
    if (p_.way != Way::scatter) next_ = scratch.take<std::uint64_t>(chunks_ * next_words());
    counts_ = scratch.take<std::uint32_t>(rows_ * words_);
    own_ = scratch.take<std::byte>(own_bytes_ * static_cast<std::size_t>(p_.cores));
  }

  // Runs the pass. Calls before(begin, end) on the core that is about to count elements [begin, end), and put(bucket,
  // offset) with the start of each bucket, then put(buckets, n).
  template <class Before, class Put>
  void run(Before&& before, Put&& put) {
    each_chunk([&](std::size_t c, std::byte* own) { count(c, own, before); });
    if (p_.way == Way::scatter)
      add_up(counts_, words_, put);
    else
      add_up(next_, next_words(), put);
    each_chunk([&](std::size_t c, std::byte* own) { move(c, own); });
  }

 private:
  // One line of padding: tables a power of two apart would map to the same cache sets.
  std::size_t next_words() const { return in_lines(buckets_) + 8; }
  std::uint64_t* next_of(std::size_t chunk) const { return next_ ? next_ + chunk * next_words() : nullptr; }

  Part part(std::size_t begin, std::size_t end) const {
    Part part = all_;
    part.begin = begin;
    part.end = end;
    return part;
  }
  std::size_t end_of(std::size_t c) const { return std::min(n_, (c + 1) * p_.chunk); }

  template <class Before>
  void count(std::size_t c, std::byte* own, Before&& before) const {
    const std::size_t end = end_of(c);
    std::uint64_t* const sums = next_of(c);
    if (p_.way != Way::scatter) std::fill_n(sums, buckets_, std::uint64_t{0});
    for (std::size_t begin = c * p_.chunk; begin < end; begin += row_) {
      const Part row = part(begin, std::min(end, begin + row_));
      std::uint32_t* const counts = counts_ + begin / row_ * words_;
      std::fill_n(counts, buckets_, 0u);
      before(row.begin, row.end);
      loops_.count(row, counts, reinterpret_cast<std::uint32_t*>(own));
      if (p_.way != Way::scatter)
        for (unsigned b = 0; b < buckets_; ++b) sums[b] += counts[b];
    }
  }

  // Scans the chunks' counts in bucket-major order: each count becomes the output index of the chunk's first element of
  // the bucket. Chunks are `stride` counters apart.
  template <class Counter, class Put>
  void add_up(Counter* table, std::size_t stride, Put&& put) const {
    std::uint64_t sum = 0;
    for (unsigned b = 0; b < buckets_; ++b) {
      put(b, sum);
      for (std::size_t c = 0; c < chunks_; ++c) sum += std::exchange(table[c * stride + b], static_cast<Counter>(sum));
    }
    put(buckets_, sum);
  }

  void move(std::size_t c, std::byte* own) const {
    const Part all = part(c * p_.chunk, end_of(c));
    std::uint32_t* const counts = counts_ + c * p_.chunk / row_ * words_;
    std::uint64_t* const next = next_of(c);
    switch (p_.way) {
      case Way::scatter:
        return loops_.scatter(all, counts);
      case Way::combine:
        return loops_.combine(all, next, p_.stores, own);
      case Way::blocks:
        return loops_.blocks(all, next, counts, p_.block, p_.stores, own);
    }
  }

  // Calls f(chunk, scratch of the core) for every chunk, on all cores.
  template <class F>
  void each_chunk(F&& f) const {
    std::atomic<std::size_t> taken = 0;
    upsweep::parallel(p_.cores, p_.cores, [&](int core) {
      std::byte* const own = own_ + static_cast<std::size_t>(core) * own_bytes_;
      for (std::size_t c; (c = taken.fetch_add(1, std::memory_order_relaxed)) < chunks_;) f(c, own);
    });
  }

  const Plan p_;
  const Loops loops_;
  const std::size_t n_;
  const unsigned buckets_;
  const std::size_t words_;
  const Part all_;
  std::size_t row_, rows_, chunks_, own_bytes_;
  std::uint64_t* next_ = nullptr;  // [chunks_][next_words()], output index of the next element; not for Way::scatter
  // [rows_][words_]: one row of counts per block for Way::blocks, otherwise per chunk. For Way::scatter, the counts
  // become the next output indices.
  std::uint32_t* counts_ = nullptr;
  std::byte* own_ = nullptr;  // [cores][own_bytes_]
};

// A whole partition in one pass. With splitters, each key is searched once, when it is counted.
template <class T, class O>
class PassOnCores {
 public:
  PassOnCores(const Args<T, O>& a, const Plan& plan) : a_(a), p_(plan) {}

  Status run() {
    const std::size_t n = a_.in.n;
    const unsigned buckets = a_.in.buckets.count, value = a_.values.bytes;
    const auto halvings = static_cast<unsigned>(std::bit_width(buckets - 1));
    Part all{a_.in.keys, a_.values.in, a_.keys, a_.values.out, 0, buckets, nullptr, nullptr, 0, n};
    if constexpr (!by_ids) all.first_bit = a_.in.buckets.first_bit;
    const std::size_t filled = std::size_t{1} << halvings;
    Scratch scratch(*a_.workspace);
    T* const splitters = by_ids ? scratch.take<T>(filled) : nullptr;  // padded with the greatest key
    auto* const ids = by_ids ? scratch.take<std::uint16_t>(n) : nullptr;
    all.ids = ids;
    Steps steps(all, sizeof(T), value, simd_loops(sizeof(T), value, by_ids), p_);
    steps.take(scratch);
    if (!scratch) return no_memory;
    if (a_.stream.dry) return {};
    if constexpr (by_ids)
      std::fill(std::copy_n(a_.in.buckets.splitters, buckets - 1, splitters), splitters + filled, static_cast<T>(-1));
    const FindIds find = simd_search(sizeof(T));
    steps.run(
        [&](std::size_t begin, std::size_t end) {
          if (by_ids) find(Search{splitters, halvings, buckets - 1}, a_.in.keys, begin, end, ids);
        },
        [&](unsigned bucket, std::uint64_t offset) { a_.offsets.put(bucket, offset); });
    return {};
  }

 private:
  static constexpr bool by_ids = O::operation == Bucketing::splitters;
  const Args<T, O>& a_;
  const Plan p_;
};

// Returns the bytes per element that a pass writes.
template <class T, class O>
std::size_t element_bytes(const Args<T, O>& a) {
  return sizeof(T) + a.values.bytes;
}

// Minimum elements per bucket in a block: four lines of u32 keys.
inline constexpr std::size_t least_per_bucket = 64;

// Returns the elements per block. A block partitioned in the cache takes half of L2, unless there are so many buckets
// that runs would be short: longer runs then pay for the slower last-level cache. Measured by keys per block:
//
//   two cores, 2^24 keys into 2^12 buckets   2^17 859, 2^18 898, 2^19 877 M keys/s
//   one core, into 2^10 buckets              2^14 1.44, 2^16 1.20, 2^18 1.20 ns per key
//   one core, into 2^8 buckets               2^14 0.98, 2^16 0.95, 2^18 1.06 ns per key
inline std::size_t block_for(unsigned buckets, std::size_t element_bytes) {
  constexpr std::size_t most = std::size_t{1} << 19;
  const std::size_t fits = std::min(second_level_cache_bytes() / 2 / element_bytes, most);
  return std::bit_floor(std::clamp(least_per_bucket * buckets, fits, most));
}

// Minimum work that pays for a fork, a join and another core's counters: least_for_cores elements, and
// least_bytes_per_counter() bytes written per bucket and core, which are fewer with many_for_cores elements or more.
//
//                                 one core   two cores
//   2^14 keys into 2^8 buckets         813        1000   M keys/s
//   2^14 keys into 2^10 buckets        708         620
//   2^17 keys into 2^12 buckets        594         882
//   2^16 keys into 2^12 buckets     53, 98      48, 68   us from cache, us from memory
//   2^16 keys into 2^13 buckets    59, 142     52, 100
//   2^16 pairs into 2^12 buckets   79, 175     60, 138
inline constexpr std::size_t least_for_cores = std::size_t{1} << 14, many_for_cores = std::size_t{1} << 16;
// Minimum elements for all cores regardless of the machine's state: two Zen 5 cores are then always faster than one,
// 1.2 to 4 times as fast at 2^20 keys, even if signals between the cores are slow
// (results/zen5/trials/partition-2-20-threads.jsonl). With fewer elements, the faster choice depends on that state
// (cpu/one_or_all.h).
inline constexpr std::size_t surely_for_cores = std::size_t{1} << 20;
constexpr std::size_t least_bytes_per_counter(std::size_t n) { return n < many_for_cores ? 64 : 16; }

// Maximum buckets for which blocks pay even if the output fits in the cache: the write positions of a few equally large
// buckets map to the same cache sets; within a block they are closer together. 2^14 keys, two cores, M keys/s:
//
//   buckets   one by one   in blocks
//   2^4              494        1047
//   2^5              648        1206
//   2^6             1198        1186
inline constexpr std::size_t few_buckets = 32;
// Distance in bytes of addresses that share an L1 set: a page on x86, where L1 is indexed while the page is translated.
inline constexpr std::size_t first_level_way_bytes = std::size_t{1} << 12;
// Minimum elements for blocks with few buckets. 2^4 buckets on one core, one by one and as a block: 2^10 keys 513 and
// 446 M keys/s, 2^12 keys 259 and 454 M keys/s.
inline constexpr std::size_t least_for_blocks = std::size_t{1} << 11;

// Minimum elements per chunk and bucket: a chunk writes a partial line at both ends of every bucket. 2^24 keys into
// 2^12 buckets in blocks of 2^18: 898 M keys/s in 2 chunks, 874 in 4, 801 in 16. More chunks help only if a core loses
// its time slice.
inline constexpr std::size_t least_per_chunk_and_bucket = 2048;

// Returns the fastest plan known for a pass over n elements.
inline Plan plan_for(std::size_t n, unsigned count, unsigned key_bytes, unsigned value_bytes, int threads) {
  const std::size_t buckets = count, element = key_bytes + value_bytes, all_threads = static_cast<std::size_t>(threads);
  const bool all = n >= least_for_cores && n * element >= least_bytes_per_counter(n) * buckets * all_threads;
  Plan p;
  p.cores = all ? threads : 1;
  std::size_t cores = all ? all_threads : 1;
  // Moving keys one by one is fastest if the output takes little of the last-level cache and the buckets' write
  // positions map to different sets of L1, as those of small buckets do. Buckets of 4 KiB begin in the same set. Two
  // cores, M keys/s:
  //
  //                buckets   one by one   in blocks
  //   2^19 keys    2^10            1110        1071   last-level cache of 32 MiB
  //                2^12            1130         598
  //   2^20 keys    2^10             697        1058
  //                2^12            1108         645
  //   2^18 keys    2^6              805        1875   L1 of 48 KiB
  const std::size_t bytes = n * std::max(key_bytes, value_bytes);  // size of the larger array
  const bool near = bytes < last_level_cache_bytes() / (n <= 256 * buckets ? 4 : 8);
  const bool apart = bytes < first_level_way_bytes * buckets;
  if (near && apart && (buckets > few_buckets || n < least_for_blocks)) {
    p.chunk = std::max<std::size_t>((n + cores - 1) / cores, 1);
    return p;
  }
  p.way = Way::blocks;
  // Each core should get whole lines of each bucket.
  cores = std::clamp<std::size_t>(n / (least_per_bucket * buckets), 1, cores);
  p.cores = static_cast<int>(cores);
  p.stores = near ? Stores::cached : Stores::around;
  p.block = std::min(block_for(count, element), (n + cores - 1) / cores);
  const std::size_t blocks = (n + p.block - 1) / p.block;
  // Up to 8 chunks per core, as long as they are large enough.
  const std::size_t least = std::max(2 * p.block, least_per_chunk_and_bucket * buckets);
  const std::size_t chunks = std::clamp(n / least, cores, 8 * cores);
  p.chunk = std::min((blocks + chunks - 1) / chunks, most_per_chunk / p.block) * p.block;
  return p;
}

// Takes at least the scratch of any plan_for() up to n elements, for passes whose number of elements depends on the
// keys.
inline void take_for_any_plan(std::size_t n, unsigned count, unsigned key_bytes, unsigned value_bytes, int threads,
                              Scratch& scratch) {
  const std::size_t cores = static_cast<std::size_t>(threads), block = block_for(count, key_bytes + value_bytes);
  const std::size_t chunks = 8 * cores + 1 + n / most_per_chunk, rows = std::max(chunks, n / block + 1);
  scratch.take<std::uint64_t>(chunks * (in_lines(count) + 8));
  scratch.take<std::uint32_t>(rows * in_lines(count));
  scratch.take<std::byte>(cores * std::max(table_words(count) * sizeof(std::uint32_t),
                                           blocks_bytes(std::min(block, n), count, key_bytes, value_bytes)));
}

}  // namespace upsweep::ladders::partition

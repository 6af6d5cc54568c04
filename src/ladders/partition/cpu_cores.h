// A partition on one or several cores, with the loops of cpu_simd.h inside.
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

// The way in which a pass moves its elements.
struct Plan {
  Way way = Way::scatter;
  int cores = 1;
  std::size_t chunk;      // elements that one core takes at a time, whole blocks; at most most_per_chunk
  std::size_t block = 0;  // elements per block of Way::blocks
  Stores stores = Stores::cached;
};

// Counts have 32 bits.
inline constexpr std::size_t most_per_chunk = std::size_t{1} << 31;

// The steps of a pass, on all its cores: counts, adds up, moves.
class Steps {
 public:
  // `all`: elements [0, n), whose keys and values have these bytes when they are written.
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

  // Scratch, in this order:
  //   next_     [chunks][next_words()]  of each chunk's next element; not for Way::scatter
  //   counts_   [rows][words_]          a row is a block, or a chunk. For Way::scatter, they become `next`
  //   own_      [cores][own_bytes_]
  std::size_t scratch_bytes() const {
    return next_bytes() + counts_bytes() + own_bytes_ * static_cast<std::size_t>(p_.cores);
  }

  // A core calls before(begin, end) before it counts elements [begin, end). put(bucket, offset) takes where each bucket
  // begins, and n.
  template <class Before, class Put>
  void run(std::byte* scratch, Before&& before, Put&& put) {
    next_ = reinterpret_cast<std::uint64_t*>(scratch);
    counts_ = reinterpret_cast<std::uint32_t*>(scratch + next_bytes());
    own_ = scratch + next_bytes() + counts_bytes();
    each_chunk([&](std::size_t c, std::byte* own) { count(c, own, before); });
    if (p_.way == Way::scatter)
      add_up(counts_, words_, put);
    else
      add_up(next_, next_words(), put);
    each_chunk([&](std::size_t c, std::byte* own) { move(c, own); });
  }

 private:
  // A line more than the buckets take: tables a power of two apart would meet in the same sets of a cache.
  std::size_t next_words() const { return in_lines(buckets_) + 8; }
  std::size_t next_bytes() const { return p_.way == Way::scatter ? 0 : chunks_ * next_words() * sizeof(std::uint64_t); }
  std::size_t counts_bytes() const { return rows_ * words_ * sizeof(std::uint32_t); }

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
    std::uint64_t* const sums = next_ + c * next_words();
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

  // Turns the chunks' counts into the output indices of their first elements, bucket by bucket, and in a bucket chunk
  // by chunk. A chunk has `stride` counters.
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
    std::uint64_t* const next = next_ + c * next_words();
    switch (p_.way) {
      case Way::scatter:
        return loops_.scatter(all, counts);
      case Way::combine:
        return loops_.combine(all, next, p_.stores, own);
      case Way::blocks:
        return loops_.blocks(all, next, counts, p_.block, p_.stores, own);
    }
  }

  // Calls f(chunk, a core's own scratch) on all cores.
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
  std::uint64_t* next_;
  std::uint32_t* counts_;
  std::byte* own_;
};

// The whole partition in one pass. Between splitters, each key is searched once, when it is counted.
template <class T, class O>
class Pass {
 public:
  Pass(const Args<T, O>& a, const Plan& plan) : a_(a), p_(plan) {}

  Status run() {
    const std::size_t n = a_.in.n;
    const unsigned buckets = a_.in.buckets.count, value = a_.values.bytes;
    const auto halvings = static_cast<unsigned>(std::bit_width(buckets - 1));
    Part all{a_.in.keys, a_.values.in, a_.keys, a_.values.out, 0, buckets, nullptr, nullptr, 0, n};
    if constexpr (!by_ids) all.first_bit = a_.in.buckets.first_bit;
    // Scratch: the splitters, filled up; that of the steps; the ids.
    const std::size_t filled_bytes = by_ids ? in_lines((sizeof(T) << halvings) / 4) * 4 : 0;
    const std::size_t steps_bytes = Steps(all, sizeof(T), value, {}, p_).scratch_bytes();
    auto* const scratch = static_cast<std::byte*>(
        a_.workspace->scratch(filled_bytes + steps_bytes + (by_ids ? n * sizeof(std::uint16_t) : 0)));
    if (!scratch) return no_memory;
    auto* const splitters = reinterpret_cast<T*>(scratch);
    auto* const ids = reinterpret_cast<std::uint16_t*>(scratch + filled_bytes + steps_bytes);
    if constexpr (by_ids) {
      std::fill(std::copy_n(a_.in.buckets.splitters, buckets - 1, splitters), splitters + (std::size_t{1} << halvings),
                static_cast<T>(-1));
      all.ids = ids;
    }
    const FindIds find = simd_search(sizeof(T));
    Steps(all, sizeof(T), value, simd_loops(sizeof(T), value, by_ids), p_)
        .run(
            scratch + filled_bytes,
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

// Bytes per element that a pass writes.
template <class T, class O>
std::size_t element_bytes(const Args<T, O>& a) {
  return sizeof(T) + a.values.bytes;
}

// Elements of a bucket that a block should have: four lines of u32 keys.
inline constexpr std::size_t least_per_bucket = 64;

// Returns the elements of a block. Its copy by bucket takes half of a core's second-level cache, unless there are so
// many buckets that their runs would be short: those then pay for the last-level cache. 2^24 keys, M keys/s of two
// cores: into 2^12 in blocks of 2^17 859, 2^18 898, 2^19 877; ns per key of one core: into 2^10 in blocks of 2^14 1.44,
// 2^16 1.20, 2^18 1.20; into 2^8 0.98, 0.95, 1.06.
inline std::size_t block_for(unsigned buckets, std::size_t element_bytes) {
  constexpr std::size_t most = std::size_t{1} << 19;
  const std::size_t fits = std::min(second_level_cache_bytes() / 2 / element_bytes, most);
  return std::bit_floor(std::clamp(least_per_bucket * buckets, fits, most));
}

// The work that pays for a fork, a join and another core's counters: elements, and bytes written per bucket and core.
// One core and two, M keys/s: 2^14 keys into 2^8 813 and 1000, into 2^10 708 and 620; 2^17 keys into 2^12 594 and 882.
// Many counters cost less, each, than a few: in cache and beyond it, us, 2^16 keys into 2^12 53 and 48, 98 and 68; into
// 2^13 59 and 52, 142 and 100; pairs into 2^12 79 and 60, 175 and 138.
inline constexpr std::size_t least_for_cores = std::size_t{1} << 14, many_for_cores = std::size_t{1} << 16;
// From here on two Zen 5 cores are always faster than one: 2^20 keys 1.2 to 4 times as fast, even where they are far
// apart (results/zen5/trials/partition-2-20-threads.jsonl). Below, it depends on the machine's state
// (cpu/one_or_all.h).
inline constexpr std::size_t surely_for_cores = std::size_t{1} << 20;
constexpr std::size_t least_bytes_per_counter(std::size_t n) { return n < many_for_cores ? 64 : 16; }

// The ends of a few equally large buckets share sets of the caches; in a block they are closer. Two cores, M keys/s one
// by one and in blocks: 2^14 keys into 2^4 494 and 1047, into 2^5 648 and 1206, into 2^6 1198 and 1186.
inline constexpr std::size_t few_buckets = 32;
// Addresses so far apart share a set: on x86 a page, because L1 is looked up while the page is translated.
inline constexpr std::size_t first_level_way_bytes = std::size_t{1} << 12;
// One core, into 2^4, one by one and as a block: 2^10 keys 513 and 446, 2^12 keys 259 and 454.
inline constexpr std::size_t least_for_blocks = std::size_t{1} << 11;

// A chunk has a partial line at both ends of every bucket. 2^24 keys into 2^12 in blocks of 2^18: 898 M keys/s in 2
// chunks, 874 in 4, 801 in 16. More chunks help only a core that loses its time slice.
inline constexpr std::size_t least_per_chunk_and_bucket = 2048;

// Returns the fastest plan known for a pass over n elements.
inline Plan plan_for(std::size_t n, unsigned count, unsigned key_bytes, unsigned value_bytes, int threads) {
  const std::size_t buckets = count, element = key_bytes + value_bytes, all_threads = static_cast<std::size_t>(threads);
  const bool all = n >= least_for_cores && n * element >= least_bytes_per_counter(n) * buckets * all_threads;
  Plan p;
  p.cores = all ? threads : 1;
  std::size_t cores = all ? all_threads : 1;
  // Keys move fastest one by one while the output takes little of the last-level cache, and the buckets' ends are in
  // different sets of L1, as those of small buckets are. Two cores, M keys/s one by one and in blocks, with 32 MiB:
  // 2^19 keys into 2^10 1110 and 1071, into 2^12 1130 and 598; 2^20 keys into 2^10 697 and 1058, into 2^12 1108 and
  // 645. Buckets of 4 KiB begin in the same set: 2^18 keys into 2^6 805 and 1875, on a machine with 48 KiB of L1.
  const std::size_t bytes = n * std::max(key_bytes, value_bytes);  // of the larger array
  const bool near = bytes < last_level_cache_bytes() / (n <= 256 * buckets ? 4 : 8);
  const bool apart = bytes < first_level_way_bytes * buckets;
  if (near && apart && (buckets > few_buckets || n < least_for_blocks)) {
    p.chunk = std::max<std::size_t>((n + cores - 1) / cores, 1);
    return p;
  }
  p.way = Way::blocks;
  // Each core should have whole lines of each bucket.
  cores = std::clamp<std::size_t>(n / (least_per_bucket * buckets), 1, cores);
  p.cores = static_cast<int>(cores);
  p.stores = near ? Stores::cached : Stores::around;
  p.block = std::min(block_for(count, element), (n + cores - 1) / cores);
  const std::size_t blocks = (n + p.block - 1) / p.block;
  // 8 chunks per core, if they are large enough.
  const std::size_t least = std::max(2 * p.block, least_per_chunk_and_bucket * buckets);
  const std::size_t chunks = std::clamp(n / least, cores, 8 * cores);
  p.chunk = std::min((blocks + chunks - 1) / chunks, most_per_chunk / p.block) * p.block;
  return p;
}

}  // namespace upsweep::ladders::partition

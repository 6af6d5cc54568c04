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

// How a pass moves its elements.
struct Plan {
  Way way = Way::scatter;
  int cores = 1;
  std::size_t chunk;      // elements that one core takes at a time, whole blocks; at most most_per_chunk
  std::size_t block = 0;  // elements per block of Way::blocks
  Stores stores = Stores::cached;
};

// Counts have 32 bits.
inline constexpr std::size_t most_per_chunk = std::size_t{1} << 31;

template <class T, class O>
class Pass {
 public:
  Pass(const Args<T, O>& a, const Plan& plan) : a_(a), p_(plan) {}

  Status run() {
    if (!take_scratch()) return no_memory;
    if (by_ids) fill_up_splitters();
    each_chunk([&](std::size_t c, std::byte* own) { count(c, own); });
    if (p_.way == Way::scatter)
      add_up(counts_, words_);
    else
      add_up(next_, next_words());
    each_chunk([&](std::size_t c, std::byte* own) { move(c, own); });
    return {};
  }

 private:
  static constexpr bool by_ids = O::bucketing == Bucketing::splitters;

  // ---- scratch, in this order
  //   splitters_  [2^halvings]             filled up
  //   next_       [chunks][next_words()]   of each chunk's next element; not for Way::scatter
  //   counts_     [rows][words_]           a row is a block, or a chunk. For Way::scatter, they become `next`
  //   own_        [cores][own_bytes_]
  //   ids_        [n]
  bool take_scratch() {
    const unsigned key = sizeof(T), value = a_.values.bytes;
    row_ = p_.way == Way::blocks ? p_.block : p_.chunk;
    rows_ = (n_ + row_ - 1) / row_;
    chunks_ = (n_ + p_.chunk - 1) / p_.chunk;
    own_bytes_ = table_words(buckets_) * sizeof(std::uint32_t);
    if (p_.way == Way::combine) own_bytes_ = std::max(own_bytes_, combine_bytes(buckets_, key, value));
    if (p_.way == Way::blocks) own_bytes_ = std::max(own_bytes_, blocks_bytes(p_.block, buckets_, key, value));
    const std::size_t splitters = by_ids ? in_lines((sizeof(T) << halvings()) / 4) * 4 : 0;
    const std::size_t next = p_.way == Way::scatter ? 0 : chunks_ * next_words() * sizeof(std::uint64_t);
    const std::size_t counts = rows_ * words_ * sizeof(std::uint32_t);
    const std::size_t own = own_bytes_ * static_cast<std::size_t>(p_.cores);
    const std::size_t ids = by_ids ? n_ * sizeof(std::uint16_t) : 0;
    auto* at = static_cast<std::byte*>(a_.workspace->scratch(splitters + next + counts + own + ids));
    if (!at) return false;
    splitters_ = reinterpret_cast<T*>(at);
    next_ = reinterpret_cast<std::uint64_t*>(at += splitters);
    counts_ = reinterpret_cast<std::uint32_t*>(at += next);
    own_ = at += counts;
    ids_ = reinterpret_cast<std::uint16_t*>(at += own);
    return true;
  }
  // A line more than the buckets take: tables a power of two apart would meet in the same sets of a cache.
  std::size_t next_words() const { return in_lines(buckets_) + 8; }

  void fill_up_splitters() {
    if constexpr (by_ids)
      std::fill(std::copy_n(a_.in.buckets.splitters, buckets_ - 1, splitters_),
                splitters_ + (std::size_t{1} << halvings()), static_cast<T>(-1));
  }
  unsigned halvings() const { return static_cast<unsigned>(std::bit_width(buckets_ - 1)); }

  // ---- steps
  Part part(std::size_t begin, std::size_t end) const {
    unsigned first_bit = 0;
    if constexpr (!by_ids) first_bit = a_.in.buckets.first_bit;
    return {a_.in.keys, a_.values.in, a_.keys, a_.values.out, first_bit, buckets_, ids_, begin, end};
  }
  std::size_t end_of(std::size_t c) const { return std::min(n_, (c + 1) * p_.chunk); }

  void count(std::size_t c, std::byte* own) const {
    const std::size_t end = end_of(c);
    std::uint64_t* const sums = next_ + c * next_words();
    if (p_.way != Way::scatter) std::fill_n(sums, buckets_, std::uint64_t{0});
    for (std::size_t begin = c * p_.chunk; begin < end; begin += row_) {
      const Part row = part(begin, std::min(end, begin + row_));
      std::uint32_t* const counts = counts_ + begin / row_ * words_;
      std::fill_n(counts, buckets_, 0u);
      if (by_ids) find_(Search{splitters_, halvings(), buckets_ - 1}, a_.in.keys, row.begin, row.end, ids_);
      loops_.count(row, counts, reinterpret_cast<std::uint32_t*>(own));
      if (p_.way != Way::scatter)
        for (unsigned b = 0; b < buckets_; ++b) sums[b] += counts[b];
    }
  }

  // Turns the chunks' counts into the output indices of their first elements, bucket by bucket, and in a bucket chunk
  // by chunk. A chunk has `stride` counters.
  template <class Counter>
  void add_up(Counter* table, std::size_t stride) const {
    std::uint64_t sum = 0;
    for (unsigned b = 0; b < buckets_; ++b) {
      a_.offsets.put(b, sum);
      for (std::size_t c = 0; c < chunks_; ++c) sum += std::exchange(table[c * stride + b], static_cast<Counter>(sum));
    }
    a_.offsets.put(buckets_, sum);
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

  const Args<T, O>& a_;
  const Plan p_;
  const std::size_t n_ = a_.in.n;
  const unsigned buckets_ = a_.in.buckets.count;
  const std::size_t words_ = in_lines(buckets_);
  const Loops loops_ = simd_loops(sizeof(T), a_.values.bytes, by_ids);
  const FindIds find_ = simd_search(sizeof(T));
  std::size_t row_, rows_, chunks_, own_bytes_;
  T* splitters_;
  std::uint64_t* next_;
  std::uint32_t* counts_;
  std::byte* own_;
  std::uint16_t* ids_;
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

}  // namespace upsweep::ladders::partition

#include "ladders/sort/cpu_cores.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>

#include "cpu/parallel.h"
#include "ladders/partition/cpu_cores.h"
#include "ladders/sort/contract.h"

namespace upsweep::ladders::sort {
namespace {

constexpr std::size_t whole_lines(std::size_t bytes) { return partition::in_lines((bytes + 3) / 4) * 4; }

// Elements per batch for copies without a sort: a batch fits in L1.
constexpr std::size_t few = 512;
// Keys per sample. For most inputs the sample alone shows the highest differing bit, without a full read.
constexpr std::size_t samples = 1024;

class Sort {
 public:
  Sort(const Caller& caller, std::size_t n, unsigned low, unsigned high, int threads, const Limits& limits,
       const Execution& how)
      : c_(caller),
        loops_(*caller.loops),
        form_(form_of(caller.key_bytes, caller.value_bytes)),
        n_(n),
        low_(low + form_.number_bit),
        high_(high + form_.number_bit),
        threads_(threads),
        limits_(limits),
        how_(how),
        scratch_(*how.workspace) {}

  Status run() {
    const bool alone = n_ <= limits_.alone || (threads_ == 1 && n_ <= limits_.most);
    take_scratch(alone);
    if (!scratch_) return no_memory;
    if (how_.stream.dry) return alone ? Status{} : take_for_levels();
    if (!alone) return level(0, 0, n_, high_);
    const Elements room = output_ ? Elements{c_.out_keys, nullptr} : buffers_[0];
    const Elements from = elements_ ? caller_elements() : room;
    if (!elements_) loops_.read(c_, 0, n_, room);
    loops_.write(c_, 0, n_, loops_.sort(from, own(0), room, n_, low_, high_, counts(0)));
    return {};
  }

 private:
  void take_scratch(bool alone) {
    const bool whole_words = form_.number_bit == 0 && form_.word_bytes == c_.key_bytes;
    output_ = whole_words && c_.value_bytes == 0;
    elements_ = whole_words && c_.unordered() && (c_.value_bytes == 0 || c_.values);
    const bool in_place = c_.keys == c_.out_keys;
    // The output of keys can serve as a buffer. A single core needs only one buffer besides its private elements.
    if (output_) buffers_[0] = {c_.out_keys, nullptr};
    if (!output_) buffers_[0] = take_elements(n_, 1);
    if (!alone) buffers_[1] = take_elements(n_, 1);
    if (output_ && in_place) std::swap(buffers_[0], buffers_[1]);
    if (!alone) offsets_ = scratch_.take<std::uint64_t>(depths * offset_words());
    most_ = alone ? n_ : std::max(limits_.most, few);
    const auto cores = static_cast<std::size_t>(alone ? 1 : threads_);
    own_ = take_elements(most_, cores);
    counts_ = scratch_.take<std::uint32_t>(cores * sort_counts);
  }
  // The passes depend on the keys, so a dry call takes the scratch of every width, over n elements.
  Status take_for_levels() {
    for (unsigned width = 1; width <= std::min(limits_.widest, high_ - low_); ++width) {
      Scratch of_pass(*how_.workspace);
      partition::take_for_any_plan(n_, 1u << width, form_.word_bytes, form_.value_bytes, threads_, of_pass);
      if (!of_pass) return no_memory;
    }
    return {};
  }
  // Takes `count` arrays of n elements, each on separate cache lines.
  Elements take_elements(std::size_t n, std::size_t count) {
    auto* const words = scratch_.take<std::byte>(count * words_bytes(n));
    return {words, form_.value_bytes ? scratch_.take<std::byte>(count * values_bytes(n)) : nullptr};
  }
  // Minimum bits per pass, unless fewer are left. The write positions of only 16 equally large buckets share cache
  // sets. M keys/s on two Zen 3 cores with 2^4, 2^5 and 2^6 buckets: 2^18 keys 275, 330, 345; 2^16 with 4-byte values
  // 272, 285, 296.
  static constexpr unsigned narrowest = 6;
  // Maximum number of depths: 64 bits take 13 passes of 5 bits, the narrowest that a test asks for.
  static constexpr std::size_t depths = 14;
  std::size_t offset_words() const { return (std::size_t{1} << limits_.widest) + 8; }
  std::size_t words_bytes(std::size_t n) const { return whole_lines(n * form_.word_bytes); }
  std::size_t values_bytes(std::size_t n) const { return whole_lines(n * form_.value_bytes); }

  // Returns a core's private elements and counts.
  Elements own(int core) const {
    const auto k = static_cast<std::size_t>(core);
    return {static_cast<std::byte*>(own_.words) + k * words_bytes(most_),
            static_cast<std::byte*>(own_.values) + k * values_bytes(most_)};
  }
  std::uint32_t* counts(int core) const { return counts_ + static_cast<std::size_t>(core) * sort_counts; }

  // ---- passes

  // Sorts elements [begin, end), which agree in the bits from `high` up, into the same range of the output. At depth 0
  // they are in the caller's arrays, otherwise in the buffer of the previous depth.
  Status level(unsigned depth, std::size_t begin, std::size_t end, unsigned high) {
    const std::size_t n = end - begin;
    const Elements from = depth > 0   ? part_of(buffers_[(depth - 1) % 2], begin)
                          : elements_ ? caller_elements()
                                      : Elements{};
    std::uint64_t sample[samples];
    const unsigned top = highest_difference(begin, n, from, high, sample);
    if (top <= low_) {
      copy(from, begin, n);
      return {};
    }
    const Elements to = part_of(buffers_[depth % 2], begin);
    const auto wanted = static_cast<unsigned>(std::bit_width((n - 1) / limits_.leaf));
    unsigned width = std::min(std::clamp(wanted, std::min(narrowest, limits_.widest), limits_.widest), top - low_);
    if (uneven(sample, top - width, width)) width = std::min(limits_.widest, top - low_);
    const unsigned shift = top - width;
    const unsigned buckets = 1u << width;
    partition::Part all{from.words, from.values, to.words, to.values, shift, buckets, nullptr, &c_, 0, n};
    const partition::Plan plan = partition::plan_for(n, buckets, form_.word_bytes, form_.value_bytes, threads_);
    partition::Steps steps(all, form_.word_bytes, form_.value_bytes,
                           from.words ? loops_.partition : loops_.partition_read, plan);
    std::uint64_t* const offsets = offsets_ + depth * offset_words();
    {
      Scratch of_pass(*how_.workspace);
      steps.take(of_pass);
      if (!of_pass) return no_memory;
      steps.run([](std::size_t, std::size_t) {},
                [&](unsigned bucket, std::uint64_t offset) { offsets[bucket] = offset; });
    }
    if (shift == low_) {
      copy(to, begin, n);
      return {};
    }

    std::atomic<unsigned> taken = 0;
    upsweep::parallel(threads_, threads_, [&](int core) {
      for (unsigned b; (b = taken.fetch_add(1, std::memory_order_relaxed)) < buckets;) {
        const std::size_t first = begin + offsets[b], size = offsets[b + 1] - offsets[b];
        if (size == 0 || size > most_) continue;
        const Elements bucket = part_of(buffers_[depth % 2], first);
        loops_.write(c_, first, size,
                     loops_.sort(bucket, own(core), output_ ? part_of({c_.out_keys, nullptr}, first) : bucket, size,
                                 low_, shift, counts(core)));
      }
    });
    for (unsigned b = 0; b < buckets; ++b)
      if (offsets[b + 1] - offsets[b] > most_)
        if (const Status status = level(depth + 1, begin + offsets[b], begin + offsets[b + 1], shift); !status)
          return status;
    return {};
  }

  // Returns one more than the highest bit below `high` in which elements differ; low_ or less if no bit from low_ up
  // differs. Fills the sample.
  unsigned highest_difference(std::size_t begin, std::size_t n, Elements from, unsigned high,
                              std::uint64_t (&sample)[samples]) const {
    const std::uint64_t below = ~std::uint64_t{0} >> (64 - high);
    const auto word = [&](std::size_t i) {
      std::uint64_t word = 0;
      if (from.words)
        std::memcpy(&word, part_of(from, i).words, form_.word_bytes);
      else
        loops_.words(c_, begin + i, 1, &word);
      return word;
    };
    const std::uint64_t first = word(0);
    std::uint64_t found = 0;
    for (std::size_t k = 0; k < samples; ++k) {
      sample[k] = word(n / samples * k);
      found |= sample[k] ^ first;
    }
    if (!(found >> (high - 1) & 1)) {  // the sample may have missed a difference
      std::atomic<std::uint64_t> all = found;
      each_part(n, [&](int, std::size_t i, std::size_t some) {
        const std::uint64_t differ =
            from.words ? loops_.differ(part_of(from, i), some) : loops_.differ_read(c_, begin + i, some);
        all.fetch_or(differ | (word(i) ^ first), std::memory_order_relaxed);
      });
      found = all;
    }
    return static_cast<unsigned>(std::bit_width(found & below));
  }

  // True if more than an eighth of the sample shares one digit, as with floats, whose exponents are alike. A pass then
  // takes as many bits as it can.
  static bool uneven(const std::uint64_t (&sample)[samples], unsigned shift, unsigned width) {
    std::array<std::uint16_t, std::size_t{1} << widest_digit> counts;
    std::fill_n(counts.begin(), std::size_t{1} << width, std::uint16_t{0});
    std::uint16_t most = 0;
    for (const std::uint64_t word : sample)
      most = std::max(most, ++counts[word >> shift & ((std::size_t{1} << width) - 1)]);
    return most > samples / 8;
  }

  // Writes elements [begin, begin + n), which are in order, to the output. Reads the caller's arrays if `from` is null.
  void copy(Elements from, std::size_t begin, std::size_t n) const {
    if (output_ && from.words == part_of({c_.out_keys, nullptr}, begin).words && c_.unordered()) return;
    each_part(n, [&](int core, std::size_t first, std::size_t count) {
      for (std::size_t i = first; i < first + count; i += few) {
        const std::size_t some = std::min(few, first + count - i);
        if (!from.words) loops_.read(c_, begin + i, some, own(core));
        loops_.write(c_, begin + i, some, from.words ? part_of(from, i) : own(core));
      }
    });
  }

  // Returns the caller's arrays as elements, if `elements_`. Read-only.
  Elements caller_elements() const { return {const_cast<void*>(c_.keys), const_cast<void*>(c_.values)}; }
  Elements part_of(Elements e, std::size_t i) const {
    return {static_cast<std::byte*>(e.words) + i * form_.word_bytes,
            static_cast<std::byte*>(e.values) + i * form_.value_bytes};
  }
  // Calls f(core, first, count) for parts of n elements, on all threads.
  template <class F>
  void each_part(std::size_t n, F&& f) const {
    constexpr std::size_t part = std::size_t{1} << 16;  // takes at least 20 us
    std::atomic<std::size_t> taken = 0;
    upsweep::parallel(threads_, threads_, [&](int core) {
      for (std::size_t i; (i = part * taken.fetch_add(1, std::memory_order_relaxed)) < n;)
        f(core, i, std::min(part, n - i));
    });
  }

  const Caller& c_;
  const Loops& loops_;
  const Form form_;
  const std::size_t n_;
  const unsigned low_, high_;  // sorts by bits [low_, high_) of the words
  const int threads_;
  const Limits limits_;
  const Execution& how_;
  Scratch scratch_;
  bool output_;             // the output of keys can hold elements
  bool elements_;           // the caller's arrays can be read as elements
  std::size_t most_;        // elements per core in own_
  Elements buffers_[2];     // [n], for even and odd depths
  std::uint64_t* offsets_;  // [depths][offset_words()]
  Elements own_;            // [threads][most_]
  std::uint32_t* counts_;   // [threads][sort_counts]
};

}  // namespace

Limits limits_for(const Caller& caller) {
  const std::size_t cache = second_level_cache_bytes(), element = form_of(caller.key_bytes, caller.value_bytes).bytes();
  // Buckets of 32 KiB sort fastest. M keys/s on two Zen 3 cores, by number of keys and size of buckets:
  //           64 KiB  32 KiB  16 KiB  8 KiB
  //   2^19       321     409     348    370
  //   2^20       427     464     470    435
  //   2^22       443     456     435    390
  // A bucket that fits in the cache sorts faster there than by another pass. A second core costs a fork, a join and a
  // pass. M keys/s on one core and on two:
  //           keys alone  with values
  //   2^14     317,  265    245,  166
  //   2^15     330,  340    231,  200
  return {.leaf = cache / 16 / element, .most = cache / element, .alone = std::size_t{1} << 15};
}

Status sort_on_cores(const Caller& caller, std::size_t n, unsigned first_bit, unsigned bits, int threads,
                     const Limits& limits, const Execution& how) {
  if (n == 0) return {};
  return Sort(caller, n, first_bit, first_bit + bits, threads, limits, how).run();
}

}  // namespace upsweep::ladders::sort

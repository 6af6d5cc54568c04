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

using partition::in_lines;

constexpr std::size_t whole_lines(std::size_t bytes) { return in_lines((bytes + 3) / 4) * 4; }

// Elements that are read or written at a time where nothing is sorted: in L1.
constexpr std::size_t few = 512;
// Keys of a sample, which tells the highest bit in which keys differ: most inputs need not be read for that.
constexpr std::size_t samples = 1024;

class Sort {
 public:
  Sort(const Caller& caller, std::size_t n, unsigned low, unsigned high, int threads, const Limits& limits,
       Workspace& workspace)
      : c_(caller),
        loops_(*caller.loops),
        form_(form_of(caller.key_bytes, caller.value_bytes)),
        n_(n),
        low_(low + form_.number_bit),
        high_(high + form_.number_bit),
        threads_(threads),
        limits_(limits),
        workspace_(workspace) {}

  Status run() {
    const bool alone = n_ <= limits_.alone || (threads_ == 1 && n_ <= limits_.most);
    if (!take_scratch(alone)) return no_memory;
    if (!alone) return level(0, 0, n_, high_);
    const Elements room = at(output_ ? c_.out_keys : buffers_[0], 0), from = elements_ ? caller_elements() : room;
    if (!elements_) loops_.read(c_, 0, n_, room);
    loops_.write(c_, 0, n_, loops_.sort(from, own(0), room, n_, low_, high_, counts(0)));
    return {};
  }

 private:
  // ---- scratch
  //   buffers   [2][n], or one if the output of keys is the other; not if one core does it all without them
  //   offsets   [depth][offset_words()]
  //   own       [threads]: elements, then counts
  bool take_scratch(bool alone) {
    const bool whole_words = form_.number_bit == 0 && form_.word_bytes == c_.key_bytes;
    output_ = whole_words && c_.value_bytes == 0;
    elements_ = whole_words && c_.unordered() && (c_.value_bytes == 0 || c_.values);
    const bool in_place = c_.keys == c_.out_keys;
    const std::size_t buffer = elements_bytes(n_), buffers = output_ ? (alone ? 0 : 1) : (alone ? 1 : 2);
    most_ = alone ? n_ : std::max(limits_.most, few);
    own_bytes_ = elements_bytes(most_) + sort_counts * sizeof(std::uint32_t);
    const std::size_t offsets = alone ? 0 : depths * offset_words() * sizeof(std::uint64_t);
    auto* memory = static_cast<std::byte*>(workspace_.scratch_of_caller(
        buffers * buffer + offsets + own_bytes_ * static_cast<std::size_t>(alone ? 1 : threads_)));
    if (!memory) return false;
    buffers_[0] = memory;
    buffers_[1] = memory + buffer;
    if (output_) {
      buffers_[1] = memory;
      buffers_[0] = c_.out_keys;
      if (in_place) std::swap(buffers_[0], buffers_[1]);
    }
    offsets_ = reinterpret_cast<std::uint64_t*>(memory += buffers * buffer);
    own_ = memory + offsets;
    return true;
  }
  // Bits of a pass, unless fewer are left. The ends of 16 buckets of one size share sets of the caches: two cores, 2^18
  // keys into 2^4, 2^5 and 2^6 275, 330 and 345 M/s, 2^16 with values of 4 bytes 272, 285 (2^5), 296 (2^6).
  static constexpr unsigned narrowest = 6;
  // Passes of 5 bits, the fewest that a test asks for, take 64 bits in 13.
  static constexpr std::size_t depths = 14;
  std::size_t offset_words() const { return (std::size_t{1} << limits_.widest) + 8; }
  std::size_t words_bytes(std::size_t n) const { return whole_lines(n * form_.word_bytes); }
  std::size_t elements_bytes(std::size_t n) const { return words_bytes(n) + whole_lines(n * form_.value_bytes); }

  // The elements from i on of a buffer of n; and a core's own.
  Elements at(void* buffer, std::size_t i) const {
    auto* const words = static_cast<std::byte*>(buffer);
    return {words + i * form_.word_bytes, words + words_bytes(n_) + i * form_.value_bytes};
  }
  Elements own(int core) const {
    std::byte* const words = own_ + static_cast<std::size_t>(core) * own_bytes_;
    return {words, words + words_bytes(most_)};
  }
  std::uint32_t* counts(int core) const {
    return reinterpret_cast<std::uint32_t*>(own_ + static_cast<std::size_t>(core) * own_bytes_ + elements_bytes(most_));
  }

  // ---- passes

  // Sorts elements [begin, end), which agree in the bits from `high` on, into the same range of the output. They are in
  // the caller's arrays at depth 0, else in the buffer of the depth before.
  Status level(unsigned depth, std::size_t begin, std::size_t end, unsigned high) {
    const std::size_t n = end - begin;
    const Elements from = depth > 0 ? at(buffers_[(depth - 1) % 2], begin) : elements_ ? caller_elements() : Elements{};
    std::uint64_t sample[samples];
    const unsigned top = highest_difference(begin, n, from, high, sample);
    if (top <= low_) {
      copy(from, begin, n);
      return {};
    }
    const Elements to = at(buffers_[depth % 2], begin);
    const auto wanted = static_cast<unsigned>(std::bit_width((n - 1) / limits_.leaf));
    unsigned width = std::min(std::clamp(wanted, std::min(narrowest, limits_.widest), limits_.widest), top - low_);
    if (uneven(sample, top - width, width)) width = std::min(limits_.widest, top - low_);
    const unsigned shift = top - width;
    const unsigned buckets = 1u << width;
    partition::Part all{from.words, from.values, to.words, to.values, shift, buckets, nullptr, &c_, 0, n};
    const partition::Plan plan = partition::plan_for(n, buckets, form_.word_bytes, form_.value_bytes, threads_);
    partition::Steps steps(all, form_.word_bytes, form_.value_bytes,
                           from.words ? loops_.partition : loops_.partition_read, plan);
    auto* const scratch = static_cast<std::byte*>(workspace_.scratch(steps.scratch_bytes()));
    if (!scratch) return no_memory;
    std::uint64_t* const offsets = offsets_ + depth * offset_words();
    steps.run(
        scratch, [](std::size_t, std::size_t) {},
        [&](unsigned bucket, std::uint64_t offset) { offsets[bucket] = offset; });
    if (shift == low_) {
      copy(to, begin, n);
      return {};
    }

    std::atomic<unsigned> taken = 0;
    upsweep::parallel(threads_, threads_, [&](int core) {
      for (unsigned b; (b = taken.fetch_add(1, std::memory_order_relaxed)) < buckets;) {
        const std::size_t first = begin + offsets[b], size = offsets[b + 1] - offsets[b];
        if (size == 0 || size > most_) continue;
        const Elements bucket = at(buffers_[depth % 2], first);
        loops_.write(
            c_, first, size,
            loops_.sort(bucket, own(core), output_ ? at(c_.out_keys, first) : bucket, size, low_, shift, counts(core)));
      }
    });
    for (unsigned b = 0; b < buckets; ++b)
      if (offsets[b + 1] - offsets[b] > most_)
        if (const Status status = level(depth + 1, begin + offsets[b], begin + offsets[b + 1], shift); !status)
          return status;
    return {};
  }

  // Returns one more than the highest bit below `high` in which elements differ; low_ or less if none from low_ on
  // does.
  // Fills the sample.
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
    if (!(found >> (high - 1) & 1)) {  // the sample may have missed some
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

  // True if an eighth of a sample has the same digit, as floats have, whose exponents are much alike: a pass then takes
  // as many bits as it can.
  static bool uneven(const std::uint64_t (&sample)[samples], unsigned shift, unsigned width) {
    std::array<std::uint16_t, std::size_t{1} << widest_digit> counts;
    std::fill_n(counts.begin(), std::size_t{1} << width, std::uint16_t{0});
    std::uint16_t most = 0;
    for (const std::uint64_t word : sample)
      most = std::max(most, ++counts[word >> shift & ((std::size_t{1} << width) - 1)]);
    return most > samples / 8;
  }

  // Writes elements [begin, begin + n), which are in order, to the output: these, or those of the caller's arrays.
  void copy(Elements from, std::size_t begin, std::size_t n) const {
    if (output_ && from.words == at(c_.out_keys, begin).words && c_.unordered()) return;
    each_part(n, [&](int core, std::size_t first, std::size_t count) {
      for (std::size_t i = first; i < first + count; i += few) {
        const std::size_t some = std::min(few, first + count - i);
        if (!from.words) loops_.read(c_, begin + i, some, own(core));
        loops_.write(c_, begin + i, some, from.words ? part_of(from, i) : own(core));
      }
    });
  }

  // The caller's arrays, if they hold elements; they are only read.
  Elements caller_elements() const { return {const_cast<void*>(c_.keys), const_cast<void*>(c_.values)}; }
  Elements part_of(Elements e, std::size_t i) const {
    return {static_cast<std::byte*>(e.words) + i * form_.word_bytes,
            static_cast<std::byte*>(e.values) + i * form_.value_bytes};
  }
  // Calls f(core, first, count) for parts of n elements.
  template <class F>
  void each_part(std::size_t n, F&& f) const {
    constexpr std::size_t part = std::size_t{1} << 16;  // 20 us or more
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
  const unsigned low_, high_;  // of the words' bits
  const int threads_;
  const Limits limits_;
  Workspace& workspace_;
  bool output_;    // the output of keys can hold elements
  bool elements_;  // the caller's arrays are elements as they are
  std::size_t most_, own_bytes_;
  void* buffers_[2];  // of even depths, and of odd ones
  std::uint64_t* offsets_;
  std::byte* own_;
};

}  // namespace

Limits limits_for(const Caller& caller) {
  const std::size_t cache = second_level_cache_bytes(), element = form_of(caller.key_bytes, caller.value_bytes).bytes();
  // Buckets of 32 KiB are sorted fastest, and all that fit in the cache faster than by another pass. Two cores, M/s
  // with buckets of 64, 32, 16 and 8 KiB: 2^19 keys 321, 409, 348, 370; 2^20 427, 464, 470, 435; 2^22 443, 456, 435,
  // 390. Another core's fork, join and pass: one and two, 2^14 keys 317 and 265, with values 245 and 166; 2^15 330 and
  // 340, 231 and 200.
  return {.leaf = cache / 16 / element, .most = cache / element, .alone = std::size_t{1} << 15};
}

Status sort_on_cores(const Caller& caller, std::size_t n, unsigned first_bit, unsigned bits, int threads,
                     const Limits& limits, Workspace& workspace) {
  if (n == 0) return {};
  return Sort(caller, n, first_bit, first_bit + bits, threads, limits, workspace).run();
}

}  // namespace upsweep::ladders::sort

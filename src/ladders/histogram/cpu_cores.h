// The histogram on one or several cores, around the loops of cpu_simd.h.
#pragma once
#include <algorithm>
#include <atomic>
#include <numeric>

#include "cpu/parallel.h"
#include "ladders/histogram/contract.h"
#include "ladders/histogram/cpu_simd.h"

namespace upsweep::ladders::histogram {

// Maximum slots of a table that is kept in copies. Four copies of 2048 slots take 32 KiB of L1; larger tables gain
// nothing from copies.
inline constexpr unsigned most_copied_slots = 2048;
// Returns the number of copies of a table of at most most_copied_slots slots. Samples of 8 bytes evict twice as many
// lines of L1 per increment as samples of 4 bytes. 2^23 such samples in 2000 slots, half of them used, on a Zen 4, ns
// per sample:
//
//                1 copy   2 copies   4 copies
//   uniform           -       0.44       0.70
//   two values     1.20       0.72       0.47
template <class T>
constexpr unsigned copies_of(unsigned slots) {
  return sizeof(T) == 8 && slots > most_copied_slots / 4 ? 2 : 4;
}
// Samples per ticket: 1 MiB of 32-bit samples, like cut() in cpu/parallel.h.
inline constexpr std::size_t samples_per_ticket = std::size_t{1} << 18;
// Minimum samples per core. 8192 samples take 4 us; a fork and a join take 1 to 2 us. At 4096 per core, 2^13 samples
// took 3.4 to 5.8 us on two cores and 4.4 us on one.
inline constexpr std::size_t least_per_core = std::size_t{1} << 13;
// Maximum samples per round, so that 32-bit counters cannot overflow.
inline constexpr std::size_t samples_per_round = std::size_t{1} << 31;

// Returns the XOR mask that maps 0, 1, 2, ... to bytes in ascending order of their values: the sign bit for i8, else 0.
unsigned sign_of_byte(const auto& bins) {
  if constexpr (requires { bins.sign; })
    return static_cast<unsigned>(bins.sign);
  else
    return 0;
}

// One core's part of a histogram: counts samples in private tables.
template <class T, class O>
class Core {
 public:
  // `bins_of_values`: the bins of the 256 values of a byte, if the loops count by value.
  Core(const Args<T, O>& a, const RowLoops& loops, std::uint32_t* words, unsigned slots, unsigned copies,
       const Guide* guide, const std::uint32_t* bins_of_values)
      : in_(a.in),
        loops_(loops),
        bins_of_values_(bins_of_values),
        t_(words, slots, copies, guide),
        watches_(a.out.bits <= 16),
        outside_wanted_(a.out.outside && !a.in.bins.covers_every_value()) {
    std::fill_n(t_.counts, t_.copies * t_.slots, 0u);
    t_.top = static_cast<std::uint32_t>(std::min<std::uint64_t>(a.out.top(), 0xffffffffu));
  }

  // Counts the samples [begin, end), and looks for full counters. Returns true if all counters are full and no further
  // sample can change the result.
  bool count(std::size_t begin, std::size_t end) {
    while (begin < end) {
      const bool looks = watches_ && loop_ == loops_.all;
      const std::size_t stop = looks ? std::min(end, begin + until_look_) : end;
      count_rows(begin, stop);
      if (watches_ && after(stop - begin)) return true;
      begin = stop;
    }
    return false;
  }

  // Adds the other copies to the first.
  void add_copies() {
    const unsigned slots = t_.slots;
    std::uint32_t* const sums = t_.counts;
    for (unsigned copy = 1; copy < t_.copies; ++copy) {
      const std::uint32_t* const counts = t_.copy(copy);
      for (unsigned k = 0; k < slots; ++k) sums[k] += counts[k];
    }
  }

 private:
  static constexpr std::size_t first_look = 1 << 14;  // samples: if uniform, enough to fill 64 u8 counters

  void count_rows(std::size_t begin, std::size_t end) {
    const Samples<T>& s = in_.samples;
    if (s.width == s.count)  // saves a division per call
      return loop_(&in_, s.data + begin, end - begin, static_cast<unsigned>(begin % s.channels), t_);
    while (begin < end) {
      const std::size_t row = begin / s.width, column = begin % s.width;
      const std::size_t n = std::min(s.width - column, end - begin);
      loop_(&in_, s.data + row * s.pitch + column, n, static_cast<unsigned>(column % s.channels), t_);
      begin += n;
    }
  }

  // Chooses the loop for the next samples, once n more have been counted. Returns the same as count().
  bool after(std::size_t n) {
    if (loop_ == loops_.outside) return false;
    since_look_ += n;
    if (loop_ == loops_.all) {
      until_look_ -= n;
      if (until_look_ > 0) return false;
      const bool done = loops_.by_value ? look_at_values() : look();
      since_look_ = 0;
      return done;
    }
    if (t_.open == 0) return all_full();
    if (since_look_ < first_look) return false;
    if (t_.counted > since_look_ / 4) {  // the distribution has changed
      loop_ = loops_.all;
      outside_ = t_.counts[in_.counters()];
      look_again(0);
    }
    t_.counted = since_look_ = 0;
    return false;
  }
  bool all_full() {
    if (!outside_wanted_) return true;
    if (!loops_.by_value) loop_ = loops_.outside;
    return false;
  }

  // Finds the full counters, and the number of samples since the last look that incremented no open counter; chooses
  // the next loop by these. Returns the same as count().
  bool look() {
    const unsigned counters = in_.counters();
    const std::uint32_t top = t_.top;
    std::uint32_t* const counts = t_.counts;
    add_copies();
    std::fill_n(counts + t_.slots, (t_.copies - 1) * t_.slots, 0u);
    std::uint32_t full = 0, wasted = 0;
    for (unsigned k = 0; k < counters; ++k) {
      const std::uint32_t count = counts[k] < top ? counts[k] : top;
      wasted += counts[k] - count;
      full += count == top;
      counts[k] = count;
    }
    if (full == counters) return all_full();
    wasted += counts[counters] - outside_;
    outside_ = counts[counters];
    look_again(full);
    // In `rare`, a sample of an open counter takes about 4 times as long as in `all`, any other sample a quarter of the
    // time: the loops break even if 1 sample in 5 belongs to an open counter. `rare` is chosen below 1 in 8, where it
    // is clearly faster, and given up only above 1 in 4.
    if (loops_.rare && counters <= most_watched && wasted > since_look_ - since_look_ / 8) {
      std::fill(std::begin(t_.bits), std::end(t_.bits), std::uint8_t{0});
      for (unsigned k = 0; k < counters; ++k) t_.bits[k / 8] |= static_cast<std::uint8_t>((counts[k] < top) << k % 8);
      t_.open = counters - full;
      t_.counted = 0;
      loop_ = loops_.rare;
    }
    return false;
  }
  // look() for loops that count by value. Bins ascend with the values of bytes, so the values of a bin are consecutive.
  bool look_at_values() {
    unsigned full = 0, reached = 0;
    for (unsigned first = 0; first < t_.slots; first += 256)
      for (unsigned v = 0; v < 256;) {
        const std::uint32_t bin = bins_of_values_[v ^ sign_];
        std::uint64_t count = 0;
        for (; v < 256 && bins_of_values_[v ^ sign_] == bin; ++v)
          for (unsigned copy = 0; copy < t_.copies; ++copy) count += t_.counts[copy * t_.slots + first + (v ^ sign_)];
        reached += bin < in_.bins.count;
        full += bin < in_.bins.count && count >= t_.top;
      }
    if (full == reached && all_full()) return true;
    look_again(full);
    return false;
  }
  // Schedules the next look: after as many samples as before if this one found more full counters, otherwise after
  // twice as many, which keeps the cost of looking small.
  void look_again(unsigned full) {
    if (full == full_) looks_apart_ = std::min<std::size_t>(2 * looks_apart_, std::size_t{1} << 22);
    full_ = full;
    until_look_ = std::max<std::size_t>(looks_apart_, 8 * t_.slots);
  }

  const Input<T, O>& in_;
  const RowLoops& loops_;
  const std::uint32_t* bins_of_values_;
  const unsigned sign_ = sign_of_byte(in_.bins);
  Tables t_;
  const bool watches_;  // the counters saturate
  const bool outside_wanted_;
  CountRow loop_ = loops_.all;
  unsigned full_ = 0;
  std::uint32_t outside_ = 0;  // samples in no bin at the last look
  std::size_t until_look_ = std::max<std::size_t>(first_look, 8 * t_.slots), looks_apart_ = first_look;  // samples
  std::size_t since_look_ = 0;
};

// Adds up the cores' tables and writes the caller's counters.
template <class T, class O>
class Sums {
 public:
  const Args<T, O>& a;
  const std::uint32_t* tables;  // [cores][stride]
  std::size_t stride;
  int cores;
  unsigned slots;
  const std::uint32_t* bins_of_values;  // as for Core; null if the loops do not count by value
  std::uint64_t* totals;                // [slots], sums of earlier rounds; null if there is only one round

  static constexpr unsigned block = 256;  // slots: as many as a byte has values

  // Adds up blocks [first, last) of the tables. In the last round, also writes the caller's counters.
  void add(unsigned first, unsigned last, bool last_round) const {
    const unsigned counters = a.in.counters();
    if (cores == 1 && !totals) {  // no sums needed
      if (!bins_of_values) {
        give(0, counters, tables);
        return a.out.put_outside(tables[counters]);
      }
      for (unsigned channel = 0; channel < slots / block; ++channel) give_values(channel, tables + channel * block);
      return;
    }
    for (unsigned k = first * block; k < std::min(last * block, slots); k += block) {
      const unsigned n = std::min(block, slots - k);
      std::uint64_t sums[block];
      std::fill_n(sums, n, std::uint64_t{0});
      if (totals) std::copy_n(totals + k, n, sums);
      for (int core = 0; core < cores; ++core) {
        const std::uint32_t* const table = tables + static_cast<std::size_t>(core) * stride + k;
        for (unsigned j = 0; j < n; ++j) sums[j] += table[j];
      }
      if (totals) std::copy_n(sums, n, totals + k);
      if (!last_round) continue;
      if (bins_of_values)
        give_values(k / block, sums);
      else
        give(k, std::min(k + n, counters), sums);
      if (!bins_of_values && counters - k < n) a.out.put_outside(sums[counters - k]);
    }
  }

 private:
  void give(std::size_t begin, std::size_t end, const auto* sums) const {
    a.out.visit([=]<class C>(C* counts) {
      constexpr C top = static_cast<C>(-1);
      for (std::size_t k = begin; k < end; ++k) {
        const auto sum = sums[k - begin];
        counts[k] = sizeof(C) > 2 || sum < top ? static_cast<C>(sum) : top;
      }
    });
  }
  void give_values(unsigned channel, const auto* sums) const {
    const unsigned bins = a.in.bins.count;
    const std::size_t first = std::size_t{channel} * bins;
    std::uint64_t outside = 0;
    if constexpr (O::operation == Binning::direct) {
      const unsigned used = std::min(a.in.bins.limit, block);
      give(first, first + used, sums);
      a.out.visit([=](auto* counts) { std::fill(counts + first + used, counts + first + bins, 0); });
      outside = std::accumulate(sums + used, sums + block, std::uint64_t{0});
    } else {
      const unsigned sign = sign_of_byte(a.in.bins);
      a.out.visit([&]<class C>(C* all) {
        C* const counts = all + first;
        std::fill_n(counts, bins, C{0});
        for (unsigned v = 0; v < block;) {
          const std::uint32_t bin = bins_of_values[v ^ sign];
          std::uint64_t sum = 0;
          for (; v < block && bins_of_values[v ^ sign] == bin; ++v) sum += sums[v ^ sign];
          if (bin < bins)
            counts[bin] = static_cast<C>(std::min<std::uint64_t>(sum, static_cast<C>(-1)));
          else
            outside += sum;
        }
      });
    }
    if (!a.out.outside) return;
    if (channel == 0) *a.out.outside = 0;
    *a.out.outside += outside;
  }
};

// Returns scalar loops, for bins that in_vectors() excludes.
template <class T, class O>
RowLoops plain_loops() {
  const auto each_slot = [](const void* input, const void* memory, std::size_t n, unsigned channel, auto&& f) {
    const auto& in = *static_cast<const Input<T, O>*>(input);
    const auto* const samples = static_cast<const T*>(memory);
    const Bins<T, O> bins = in.bins;  // a copy: the counters' stores could alias a reference
    const unsigned channels = in.samples.channels, counters = in.counters();
    for (std::size_t i = 0; i < n; ++i, channel = channel + 1 == channels ? 0 : channel + 1) {
      const unsigned bin = bins(samples[i]);
      f(i, bin < bins.count ? channel * bins.count + bin : counters);
    }
  };
  static const auto visit_slots = each_slot;
  return {.all =
              [](const void* input, const void* samples, std::size_t n, unsigned channel, Tables& t) {
                std::uint32_t* const counts = t.counts;
                const unsigned slots = t.slots, last_copy = t.copies - 1;
                visit_slots(input, samples, n, channel,
                            [=](std::size_t i, unsigned slot) { ++counts[(i & last_copy) * slots + slot]; });
              },
          .rare = nullptr,
          .outside =
              [](const void* input, const void* samples, std::size_t n, unsigned channel, Tables& t) {
                const unsigned counters = static_cast<const Input<T, O>*>(input)->counters();
                std::uint32_t outside = 0;
                visit_slots(input, samples, n, channel,
                            [&](std::size_t, unsigned slot) { outside += slot == counters; });
                t.counts[counters] += outside;
              },
          .find = nullptr,
          .by_value = false};
}

// True if the loops of cpu_simd.h take these bins. Those loops have no guide for edges of 8 bytes, and in a range of
// 2^32 integers or more they find bins only by a shift.
template <class T, class O>
bool in_vectors(const Bins<T, O>& bins) {
  if constexpr (O::operation == Binning::edges) {
    if constexpr (sizeof(T) == 8)
      return false;
    else
      return Guide::takes(bins);
  } else if constexpr (O::operation == Binning::even && std::is_integral_v<T> && sizeof(T) == 8) {
    return bins.has_shortcut() || bins.scale.greatest < ~std::uint32_t{0};
  } else {
    return true;
  }
}

template <class T, class O>
Status count_on_cores(const Args<T, O>& a, int threads) {
  static const RowLoops vector_loops = simd_loops(type_of<T>(), O::operation);
  static const RowLoops scalar_loops = plain_loops<T, O>();
  // A dry call cannot read the edges, on which the choice depends. It assumes vector loops, which need at least as much
  // scratch as scalar ones.
  const bool vectors = (a.stream.dry && sizeof(T) <= 4) || in_vectors(a.in.bins);
  const RowLoops& loops = vectors ? vector_loops : scalar_loops;
  const std::size_t n = a.in.samples.count;
  const unsigned counters = a.in.counters(), slots = loops.by_value ? 256 * a.in.samples.channels : counters + 1;
  // Copies must be cleared and added up, which pays with more than 16 samples per slot. 257 slots gain with 2^11
  // samples or more on a Zen 3, with 2^13 or more on a Zen 5 (there 2^11 samples take 0.87 us with copies and 0.66 us
  // without); 1001 slots with 2^13 or more.
  const unsigned copies = slots <= most_copied_slots && n > 16 * slots ? copies_of<T>(slots) : 1;
  // Minimum samples per core: clearing and adding up a core's table takes half as long as counting this many samples.
  const std::size_t least = std::max<std::size_t>(2 * copies * slots, least_per_core);
  const auto cores = static_cast<int>(std::clamp<std::size_t>(n / least, 1, static_cast<std::size_t>(threads)));
  const std::size_t ticket =
      std::clamp<std::size_t>(n / (8 * static_cast<std::size_t>(cores)), least_per_core, samples_per_ticket);
  const bool one_round = n <= samples_per_round;

  // Scratch: the tables, each on separate cache lines; totals if there are several rounds; the bins of byte values; the
  // guide.
  const auto lines = [](std::size_t words) { return (words + 15) / 16 * 16; };
  const std::size_t table = lines(copies * slots), all_tables = table * static_cast<std::size_t>(cores);
  const bool guided = O::operation == Binning::edges && vectors;
  const std::size_t guided_samples = loops.by_value ? 256 : n;
  const std::size_t guide_words = guided ? Guide::words(a.in.bins.count, guided_samples) : 0;
  Scratch scratch(*a.workspace);
  auto* const words = scratch.take<std::uint32_t>(all_tables);
  auto* const totals = one_round ? nullptr : scratch.take<std::uint64_t>(slots);
  auto* const bins_of_values = scratch.take<std::uint32_t>(256);
  auto* const guide_memory = scratch.take<std::uint32_t>(guide_words);
  if (!scratch) return {Code::out_of_memory, 0, "no memory for the cores' tables"};
  if (a.stream.dry) return {};
  if (totals) std::fill_n(totals, slots, std::uint64_t{0});
  Guide guide;
  if constexpr (O::operation == Binning::edges && sizeof(T) <= 4)
    if (guided) guide = Guide::make(a.in.bins, guided_samples, guide_memory);
  if constexpr (sizeof(T) == 1) {
    if (O::operation != Binning::direct || a.out.bits <= 16) {  // otherwise bins_of_values is unused
      T values[256];
      std::iota(std::begin(values), std::end(values), T{0});
      loops.find(&a.in, values, 256, &guide, bins_of_values);
    }
  }

  const Sums<T, O> sums{a, words, table, cores, slots, loops.by_value ? bins_of_values : nullptr, totals};
  std::atomic<bool> all_full = false;
  for (std::size_t begin = 0;;) {
    const std::size_t end = std::min(n, begin + samples_per_round);
    std::atomic<std::size_t> next = begin;
    // A single core avoids the locked instruction, which would wait until the store buffer has drained.
    const auto take = [&] {
      if (cores > 1) return next.fetch_add(ticket, std::memory_order_relaxed);
      const std::size_t from = next.load(std::memory_order_relaxed);
      next.store(from + ticket, std::memory_order_relaxed);
      return from;
    };
    upsweep::parallel(cores, cores, [&](int core) {
      Core<T, O> counts(a, loops, words + static_cast<std::size_t>(core) * table, slots, copies, &guide,
                        bins_of_values);
      while (!all_full.load(std::memory_order_relaxed)) {
        const std::size_t from = take();
        if (from >= end) break;
        if (counts.count(from, std::min(end, from + ticket))) all_full = true;
      }
      counts.add_copies();
    });
    const bool last = end == n || all_full;
    const unsigned blocks = (slots + sums.block - 1) / sums.block;
    // One core adds up 2^16 counters in about 16 us; with more, another fork and join pays.
    const bool together = static_cast<std::size_t>(cores) * slots > std::size_t{1} << 16 && !loops.by_value;
    const int parts = together ? cores : 1;
    upsweep::parallel(parts, parts, [&](int part) {
      const auto cut = [&](int p) {
        return static_cast<unsigned>(std::uint64_t{blocks} * static_cast<unsigned>(p) / static_cast<unsigned>(parts));
      };
      sums.add(cut(part), cut(part + 1), last);
    });
    if (last) return {};
    begin = end;
  }
}

}  // namespace upsweep::ladders::histogram

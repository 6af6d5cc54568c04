// The histogram on one or several cores, with the loops of cpu_simd.h inside.
#pragma once
#include <algorithm>
#include <atomic>

#include "cpu/parallel.h"
#include "ladders/histogram/contract.h"
#include "ladders/histogram/cpu_simd.h"

namespace upsweep::ladders::histogram {

// Tables larger than half of a core's first cache gain nothing from copies.
inline constexpr unsigned most_copied_slots = 2048;
static_assert(4 * 256 <= most_copied_slots, "the loops for bytes count in four copies, for up to four channels");
// Samples per ticket: little work lost at the end, and enough between two looks at saturated counters.
inline constexpr std::size_t samples_per_ticket = std::size_t{1} << 16;
// 32-bit counters hold a round of at most this many samples.
inline constexpr std::size_t samples_per_round = std::size_t{1} << 31;

// One core's part of a histogram.
template <class T, class O>
class Core {
 public:
  Core(const Args<T, O>& a, const RowLoops& loops, const Tables& tables)
      : in_(a.in), out_(a.out), loops_(loops), t_(tables), watches_(out_.bits <= 16) {
    std::fill_n(t_.counts, t_.copies * t_.slots, 0u);
    t_.outside_wanted = out_.outside && !in_.covers_every_value();
  }

  // Counts the samples [begin, end), and looks for counters that have become full. Returns true if all are, and no
  // further sample matters.
  bool count(std::size_t begin, std::size_t end) {
    while (begin < end) {
      const std::size_t stop = watches_ ? std::min(end, begin + until_look_) : end;
      count_rows(begin, stop);
      until_look_ -= stop - begin;
      begin = stop;
      if (watches_ && until_look_ == 0 && look()) return true;
    }
    return false;
  }

  void add_to(std::uint64_t* totals) const {  // [counters + 1]
    for (unsigned k = 0; k < t_.slots; ++k) totals[counter_of_slot(k)] += sum(k);
  }

 private:
  static constexpr std::size_t first_look = 1 << 14;  // u8 counters of 64 bins fill after as many uniform samples

  void count_rows(std::size_t begin, std::size_t end) {
    const Samples<T>& s = in_.samples;
    const CountRow count_row = any_full_ && loops_.live ? loops_.live : loops_.all;
    while (begin < end) {
      const std::size_t row = begin / s.width, column = begin % s.width;
      const std::size_t n = std::min(s.width - column, end - begin);
      count_row(&in_, s.data + row * s.pitch + column, n, static_cast<unsigned>(column % s.channels), t_);
      begin += n;
    }
  }

  // Finds the full counters. Looks are repeated after as many samples as before while they find more, and after twice
  // as many when they do not: their cost stays a small part.
  bool look() {
    const unsigned counters = in_.counters();
    unsigned full = 0;
    if (loops_.by_value) {
      std::uint32_t counts[4 * 256] = {};
      if (counters > std::size(counts)) return look_again(0);
      for (unsigned k = 0; k < t_.slots; ++k)
        if (const unsigned counter = counter_of_slot(k); counter < counters) counts[counter] += sum(k);
      for (unsigned k = 0; k < counters; ++k) full += counts[k] >= out_.top();
    } else {
      for (unsigned k = 0; k < counters; ++k) {
        const bool is_full = sum(k) >= out_.top();
        full += is_full;
        if (counters <= most_watched) t_.full[k / 32] |= std::uint32_t{is_full} << k % 32;
      }
    }
    any_full_ = full > 0 && counters <= most_watched;
    if (full == counters && !t_.outside_wanted) return true;
    return look_again(full);
  }
  bool look_again(unsigned full) {
    if (full == full_) looks_apart_ = std::min<std::size_t>(2 * looks_apart_, std::size_t{1} << 22);
    full_ = full;
    until_look_ = std::max<std::size_t>(looks_apart_, 8 * t_.slots);
    return false;
  }

  std::uint32_t sum(unsigned slot) const {
    std::uint32_t all = 0;
    for (unsigned copy = 0; copy < t_.copies; ++copy) all += t_.counts[copy * t_.slots + slot];
    return all;
  }
  unsigned counter_of_slot(unsigned slot) const {
    if constexpr (sizeof(T) == 1) {
      const unsigned bin = in_.bins(static_cast<T>(slot % 256));
      return bin < in_.bins.count ? slot / 256 * in_.bins.count + bin : in_.counters();
    }
    return slot;
  }
  const Input<T, O>& in_;
  const Output& out_;
  const RowLoops& loops_;
  Tables t_;
  const bool watches_;  // the counters saturate
  bool any_full_ = false;
  unsigned full_ = 0;
  std::size_t until_look_ = first_look, looks_apart_ = first_look;  // samples
};

template <class T, class O>
Status count_on_cores(const Args<T, O>& a, int threads) {
  static const RowLoops loops = simd_loops(type_of<T>(), O::binning);
  const std::size_t n = a.in.samples.count;
  const unsigned counters = a.in.counters(), slots = loops.by_value ? 256 * a.in.samples.channels : counters + 1;
  const unsigned copies = slots <= most_copied_slots ? 4 : 1;
  // A core's table takes about as long to clear and to add up as this many samples take to count.
  const std::size_t least = std::max<std::size_t>(copies * slots, samples_per_ticket);
  const auto cores = static_cast<int>(std::clamp<std::size_t>(n / least, 1, static_cast<std::size_t>(threads)));

  // The totals, and behind them the tables, each in cache lines of its own.
  const std::size_t table = (copies * slots + 15) / 16 * 16;
  auto* const totals = static_cast<std::uint64_t*>(
      a.workspace->scratch((counters + 1) * sizeof(std::uint64_t) + 64 + static_cast<std::size_t>(cores) * table * 4));
  if (!totals) return {Code::out_of_memory, 0, "no memory for the cores' tables"};
  std::fill_n(totals, counters + 1, std::uint64_t{0});
  auto* const tables = reinterpret_cast<std::uint32_t*>(totals + (counters + 1 + 7) / 8 * 8);

  std::atomic<bool> all_full = false;
  for (std::size_t begin = 0; begin < n && !all_full; begin += samples_per_round) {
    const std::size_t end = std::min(n, begin + samples_per_round);
    std::atomic<std::size_t> next = begin;
    std::atomic_flag adding;
    upsweep::parallel(cores, cores, [&](int core) {
      Core<T, O> counts(a, loops,
                        {.counts = tables + static_cast<std::size_t>(core) * table, .slots = slots, .copies = copies});
      while (!all_full.load(std::memory_order_relaxed)) {
        const std::size_t from = next.fetch_add(samples_per_ticket, std::memory_order_relaxed);
        if (from >= end) break;
        if (counts.count(from, std::min(end, from + samples_per_ticket))) all_full = true;
      }
      while (adding.test_and_set(std::memory_order_acquire)) {
      }
      counts.add_to(totals);
      adding.clear(std::memory_order_release);
    });
  }
  for (unsigned k = 0; k < counters; ++k) a.out.put(k, all_full ? a.out.top() : totals[k]);
  a.out.put_outside(totals[counters]);
  return {};
}

}  // namespace upsweep::ladders::histogram

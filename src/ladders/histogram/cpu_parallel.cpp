// histogram/parallel: every core counts its part in tables of its own.
//
// Four tables per core, taken in turn: when neighbours fall into one bin, four increments are in flight instead of one,
// because none waits for the store of the one before.
#include <algorithm>
#include <memory>
#include <new>

#include "cpu/parallel.h"
#include "ladders/histogram/binding.h"

namespace upsweep::ladders::histogram {

namespace {  // a rung of the same name may exist on the GPU

constexpr unsigned tables = 4;

struct parallel {
  static constexpr Story story{.idea = "four tables per core, added up at the end",
                               .prediction = "four times serial per core where neighbours are equal",
                               .guarantees = "counts are exact; u8 and u16 stop at their largest value",
                               .limits = "any n; 16 bytes of memory per counter and core; params: threads",
                               .source = "Intel, Optimization Reference Manual, store forwarding"};

  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    const Input<T, O> in = a.in;
    const std::size_t slots = in.counters() + 1, n = in.samples.count;  // the last one: in no bin
    // A part of 2^31 samples at most, so that 32 bits hold its counts.
    const int threads = threads_of(a.tuning);
    // A core's tables take as long to clear and add as this many samples take to count.
    const std::size_t least = std::max<std::size_t>(tables * slots, std::size_t{32} << 10);
    const std::size_t most_parts = std::clamp<std::size_t>(n / least, 1, static_cast<std::size_t>(threads));
    const std::size_t parts = std::max(most_parts, (n + (std::size_t{1} << 31) - 1) >> 31);
    const std::unique_ptr<std::uint32_t[]> all(new (std::nothrow) std::uint32_t[parts * tables * slots]);
    if (!all) return {Code::out_of_memory, 0, "no memory for the cores' tables"};

    const std::size_t size = (n + parts - 1) / parts;
    upsweep::parallel(static_cast<int>(parts), threads, [&](int part) {
      std::uint32_t* const counts = all.get() + static_cast<std::size_t>(part) * tables * slots;
      std::fill_n(counts, tables * slots, 0u);
      const std::size_t begin = std::min(n, static_cast<std::size_t>(part) * size), end = std::min(n, begin + size);
      std::size_t i = begin;
      for (; i + tables <= end; i += tables)
        for (unsigned t = 0; t < tables; ++t) ++counts[t * slots + in.counter_of(i + t)];
      for (; i < end; ++i) ++counts[in.counter_of(i)];
    });

    for (std::size_t k = 0; k < slots; ++k) {
      std::uint64_t sum = 0;
      for (std::size_t table = 0; table < parts * tables; ++table) sum += all[table * slots + k];
      if (k + 1 < slots)
        a.out.put(k, sum);
      else
        a.out.put_outside(sum);
    }
    return {};
  }
};

}  // namespace

extern const Rung cpu_parallel_rung = make_rung<parallel>("parallel", Backend::cpu);

}  // namespace upsweep::ladders::histogram

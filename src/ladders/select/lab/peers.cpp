// Other libraries' CPU implementations of the same contract.
#include "lab/peers.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_reduce.h>
#include <oneapi/tbb/parallel_scan.h>

#include <algorithm>
#include <execution>
#include <functional>
#include <ranges>

#include "ladders/select/binding.h"
#include "ladders/select/cpu_simd.h"

namespace upsweep::ladders::select {
namespace {

// Runs the standard algorithm, with or without an execution policy. The index of an element's flag is computed from the
// element's address.
template <class T, class O>
void with_std(const Args<T, O>& a, auto&&... policy) {
  const T *const begin = a.in.values, *const end = begin + a.in.n;
  T* const out = a.out.values;
  if constexpr (has_predicate<O> && !writes_rest<O>) {
    *a.out.count = static_cast<std::size_t>(std::copy_if(policy..., begin, end, out, a.in.predicate) - out);
  } else if constexpr (reads_flags<O>) {
    const auto flagged = [&](const T& x) { return a.in.flags[&x - begin] != 0; };
    *a.out.count = static_cast<std::size_t>(std::copy_if(policy..., begin, end, out, flagged) - out);
  } else if constexpr (starts_runs<O> && !writes_lengths<O>) {
    *a.out.count = static_cast<std::size_t>(std::unique_copy(policy..., begin, end, out) - out);
  } else {
    *a.out.count = static_cast<std::uint64_t>(std::count_if(policy..., begin, end, a.in.predicate));
    std::partition_copy(policy..., begin, end, out, out + *a.out.count, a.in.predicate);
  }
}

struct std_serial {
  static constexpr Story story{
      .idea = "std::copy_if (over positions for find_repeats and nonzero), unique_copy, partition_copy",
      .limits = "no run_length_encode; any n",
      .source = "the C++ standard library"};
  template <class T, class O>
  static constexpr bool supports = !writes_lengths<O>;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    if constexpr (writes_positions<O>) {
      const auto all = std::views::iota(std::size_t{0}, a.in.n);
      const auto selected = [&](std::size_t i) { return a.in.selects(i); };
      a.out.positions.visit([&](auto* out) {
        *a.out.count = static_cast<std::uint64_t>(std::copy_if(all.begin(), all.end(), out, selected) - out);
      });
    } else {
      with_std(a);
    }
    return {};
  }
};

struct std_par {
  static constexpr Story story{.idea = "the same with std::execution::par",
                               .limits = "no find_repeats, nonzero or run_length_encode; any n",
                               .source = "the C++ standard library"};
  template <class T, class O>
  static constexpr bool supports = !writes_lengths<O> && !writes_positions<O>;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    with_std(a, std::execution::par);
    return {};
  }
};

// Runs the serial rung's loop over a part and returns the selection up to its end, given that before it. Writes only if
// is_final.
template <bool is_final, class T, class O>
Found loop(const Args<T, O>& a, std::size_t begin, std::size_t end, Found before, std::size_t total) {
  for (std::size_t i = begin; i < end; ++i) {
    if (!a.in.selects(i)) {
      if constexpr (is_final && writes_rest<O>) a.out.values[total + i - before.count] = a.in.values[i];
      continue;
    }
    if constexpr (is_final) {
      if constexpr (writes_positions<O>)
        a.out.positions.put(before.count, i);
      else
        a.out.values[before.count] = a.in.values[i];
      if constexpr (writes_lengths<O>)
        if (before.count > 0) a.out.positions.put(before.count - 1, i - before.last);
    }
    ++before.count;
    before.last = i;
  }
  return before;
}

struct tbb_parallel_scan {
  static constexpr Story story{
      .idea = "oneapi::tbb::parallel_scan over a plain loop", .limits = "any n", .source = "oneTBB"};
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    using Range = oneapi::tbb::blocked_range<std::size_t>;
    std::size_t total = 0;
    if constexpr (writes_rest<O>)
      total = oneapi::tbb::parallel_reduce(
          Range(0, a.in.n), std::size_t{0},
          [&](const Range& r, std::size_t count) { return count + loop<false>(a, r.begin(), r.end(), {}, 0).count; },
          std::plus<>{});
    const Found all = oneapi::tbb::parallel_scan(
        Range(0, a.in.n), Found{},
        [&](const Range& r, Found before, bool is_final) {
          return is_final ? loop<true>(a, r.begin(), r.end(), before, total)
                          : loop<false>(a, r.begin(), r.end(), before, total);
        },
        std::plus<>{});
    if constexpr (writes_lengths<O>)
      if (all.count > 0) a.out.positions.put(all.count - 1, a.in.n - all.last);
    *a.out.count = all.count;
    return {};
  }
};

// Writes every element; one that is not selected is overwritten by the next. Ends at the last selected element.
struct branchless {
  static constexpr Story story{.idea = "a branchless loop: write, then advance by 0 or 1",
                               .limits = "no run_length_encode or partition_if; any n",
                               .source = "Ross, Selection Conditions in Main Memory, 2004"};
  template <class T, class O>
  static constexpr bool supports = !writes_lengths<O> && !writes_rest<O>;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    std::size_t count = 0, end = a.in.n;
    while (end > 0 && !a.in.selects(end - 1)) --end;
    const auto loop = [&](auto&& put) {
      for (std::size_t i = 0; i < end; ++i) {
        put(count, i);
        count += a.in.selects(i);
      }
    };
    if constexpr (writes_positions<O>)
      a.out.positions.visit(
          [&]<class P>(P* out) { loop([out](std::size_t to, std::size_t i) { out[to] = static_cast<P>(i); }); });
    else
      loop([out = a.out.values, in = a.in.values](std::size_t to, std::size_t i) { out[to] = in[i]; });
    *a.out.count = count;
    return {};
  }
};

}  // namespace

Rungs cpu_peers() {
  static const lab::PeerList peers{lab::peer<Binding, std_serial>("std", lab::std_version),
                                   lab::peer<Binding, std_par>("std(par)", lab::std_version),
                                   lab::peer<Binding, tbb_parallel_scan>("tbb::parallel_scan", lab::tbb_version),
                                   lab::peer<Binding, branchless>("branchless loop", lab::gcc_version)};
  return peers;
}

}  // namespace upsweep::ladders::select

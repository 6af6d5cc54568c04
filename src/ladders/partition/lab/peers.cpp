// CPU peers with the same contract, compiled for the host CPU: distribution counting as written by hand.
#include "lab/peers.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <utility>
#include <vector>

#include "ladders/partition/binding.h"

namespace upsweep::ladders::partition {
namespace {

// Counts the buckets of keys [begin, end).
template <class T, class O>
void count_loop(const Args<T, O>& a, std::size_t begin, std::size_t end, std::size_t* counts) {
  const auto buckets = a.in.buckets;
  for (std::size_t i = begin; i < end; ++i) ++counts[buckets(a.in.keys[i])];
}
// Moves keys [begin, end) and their values to the next offsets of their buckets. The width of the values is tested
// once, outside the loop.
template <class T, class O>
void scatter_loop(const Args<T, O>& a, std::size_t begin, std::size_t end, std::size_t* next) {
  const auto buckets = a.in.buckets;
  const T* const keys = a.in.keys;
  T* const out = a.keys;
  if (a.values.bytes == 0)
    for (std::size_t i = begin; i < end; ++i) out[next[buckets(keys[i])]++] = keys[i];
  a.values.visit([=](const auto* values, auto* out_values) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t place = next[buckets(keys[i])]++;
      out[place] = keys[i];
      out_values[place] = values[i];
    }
  });
}

struct plain_loops {
  static constexpr Story story{.idea = "count, scan, move: three loops on one core",
                               .guarantees = "stable",
                               .limits = "any n",
                               .source = "a compiler"};
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    const unsigned buckets = a.in.buckets.count;
    std::vector<std::size_t> next(buckets);
    count_loop(a, 0, a.in.n, next.data());
    std::size_t before = 0;
    for (unsigned b = 0; b < buckets; ++b) {
      a.offsets.put(b, before);
      before += std::exchange(next[b], before);
    }
    a.offsets.put(buckets, before);
    scatter_loop(a, 0, a.in.n, next.data());
    return {};
  }
};

struct tbb_loops {
  static constexpr Story story{
      .idea = "oneapi::tbb::parallel_for over one part per thread, with the plain loops inside",
      .guarantees = "stable",
      .limits = "any n",
      .source = "oneTBB"};
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    const std::size_t buckets = a.in.buckets.count;
    const auto threads = static_cast<std::size_t>(oneapi::tbb::this_task_arena::max_concurrency());
    const std::size_t parts = a.in.n < (1u << 14) ? 1 : threads, part = a.in.n / parts + 1;
    std::vector<std::size_t> next(parts * buckets);
    const auto each_part = [&](auto&& f) {
      oneapi::tbb::parallel_for(std::size_t{0}, parts, [&](std::size_t p) {
        const std::size_t begin = p * part < a.in.n ? p * part : a.in.n;
        f(begin, a.in.n - begin < part ? a.in.n : begin + part, next.data() + p * buckets);
      });
    };
    each_part([&](std::size_t begin, std::size_t end, std::size_t* counts) { count_loop(a, begin, end, counts); });
    std::size_t before = 0;
    for (std::size_t b = 0; b < buckets; ++b) {
      a.offsets.put(b, before);
      for (std::size_t p = 0; p < parts; ++p) before += std::exchange(next[p * buckets + b], before);
    }
    a.offsets.put(buckets, before);
    each_part([&](std::size_t begin, std::size_t end, std::size_t* places) { scatter_loop(a, begin, end, places); });
    return {};
  }
};

}  // namespace

Rungs cpu_peers() {
  static const lab::PeerList peers{lab::peer<Binding, plain_loops>("plain loops", lab::gcc_version),
                                   lab::peer<Binding, tbb_loops>("tbb::parallel_for", lab::tbb_version)};
  return peers;
}

}  // namespace upsweep::ladders::partition

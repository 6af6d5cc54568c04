// Loops over segments on all cores.
#pragma once
#include "cpu/parallel.h"
#include "ladders/reduce/contract.h"

namespace upsweep::ladders::reduce {

// Calls f(s) for every segment s, in parts with equal numbers of consecutive segments.
template <class T, class Op, class Out, class F>
void for_each_segment(const Args<T, Op, Out>& a, F&& f) {
  const int threads = threads_of(a.tuning), parts = cut(a.n, sizeof(T), threads).count;
  upsweep::parallel(parts, threads, [&](int part) {
    const auto bound = [&](int p) {
      return a.segments() * static_cast<std::size_t>(p) / static_cast<std::size_t>(parts);
    };
    for (std::size_t s = bound(part), end = bound(part + 1); s < end; ++s) f(s);
  });
}

}  // namespace upsweep::ladders::reduce

// What others offer for the same contract, timed beside the ladder on the CPU.
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_scan.h>
#include <oneapi/tbb/version.h>

#include "ladders/segmented_scan/contract.h"
#include "ladders/segmented_scan/cpu_heads.h"

namespace upsweep::ladders::segmented_scan {
namespace {

struct tbb_parallel_scan {
  static constexpr Story story{.idea = "oneapi::tbb::parallel_scan of pairs", .limits = "any n", .source = "oneTBB"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    using Range = oneapi::tbb::blocked_range<std::size_t>;
    const Joined<Op> join{a.op};
    oneapi::tbb::parallel_scan(
        Range(0, a.n), join.template neutral<Run<T>>(),
        [&](const Range& range, Run<T> prefix, bool is_final) {
          HeadWindows heads(a.heads, range.begin(), range.end());
          std::uint64_t bits = 0;
          for (std::size_t i = range.begin(); i < range.end(); ++i, bits >>= 1) {
            if ((i - range.begin()) % HeadWindows::width == 0) bits = heads.next();
            if (bits & 1) prefix = {Op::template neutral<T>(), 1};
            const T next = a.op(prefix.value, a.in[i]);
            if (is_final) a.out[i] = a.inclusive ? next : prefix.value;
            prefix.value = next;
          }
          return prefix;
        },
        join);
    return {};
  }
};

}  // namespace

Rungs cpu_peers() {
  static constexpr Rung tbb =
      as_peer(make_rung<tbb_parallel_scan>("tbb::parallel_scan", Backend::cpu), "oneTBB " TBB_VERSION_STRING);
  static constexpr const Rung* all[] = {&tbb};
  return all;
}

}  // namespace upsweep::ladders::segmented_scan

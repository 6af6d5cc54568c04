// Other libraries' CPU implementations of the same contract.
#include "lab/peers.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_scan.h>

#include "ladders/segmented_scan/binding.h"
#include "ladders/segmented_scan/cpu_heads.h"
#include "ladders/segmented_scan/run.h"

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
  static const lab::PeerList peers{lab::peer<Binding, tbb_parallel_scan>("tbb::parallel_scan", lab::tbb_version)};
  return peers;
}

}  // namespace upsweep::ladders::segmented_scan

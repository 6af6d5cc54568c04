// histogram on a group: each member counts its samples, and every process adds the counts. Counters of 8 and 16 bits
// saturate after the addition, not before.
#include "upsweep/histogram.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "multi/group_call.h"

namespace upsweep::multi {

void histogram(GroupCall& call) {
  const std::size_t counters = call.first().out[0].count;
  const bool counts_outside = call.first().out[1].count > 0;

  if (call.first().out[0].type == Type::u32 && call.total() > std::numeric_limits<std::uint32_t>::max())
    refuse("histogram", "a count of 2^32 samples or more does not fit u32", "pass u64 counts");

  // 1. Each member's counts; the last one is of the samples outside.
  call.each([&](Member& m) {
    if (m.request.out[0].count != counters)
      refuse("histogram", "members with " + std::to_string(counters) + " and " +
                              std::to_string(m.request.out[0].count) + " counters");
    call.require_arrays(m);
    Request part = m.request;
    const AnyView counts = m.landing(Type::u64, counters + 1);
    part.out[0] = part_of(counts, 0, counters);
    part.out[1] = counts_outside ? part_of(counts, counters, 1) : AnyView();
    m.run(part, call.rung());
  });
  const auto lists = call.gather_lists<std::uint64_t>([&](Member& m) {
    m.device.synchronize();
    std::vector<std::uint64_t> counts(counters + counts_outside);
    m.read(m.landing(Type::u64, counters + 1), 0, counts.size(), counts.data());
    return counts;
  });

  // 2. Their sums.
  std::vector<std::uint64_t> sums(counters + counts_outside);
  for (const std::vector<std::uint64_t>& counts : lists) {
    if (counts.size() != sums.size()) refuse("histogram", "the members' histograms have different numbers of counters");
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += counts[k];
  }
  call.each([&](Member& m) {
    const AnyView& out = m.request.out[0];
    visit(out.type, [&]<class T>(TypeTag<T>) {
      if constexpr (std::is_unsigned_v<T>) {
        std::vector<T> narrow(counters);
        for (std::size_t k = 0; k < counters; ++k)
          narrow[k] = static_cast<T>(std::min<std::uint64_t>(sums[k], std::numeric_limits<T>::max()));
        m.write(out, 0, counters, narrow.data());
      }
    });
    if (counts_outside) m.write(m.request.out[1], 0, 1, &sums[counters]);
  });
  call.finish();
}

}  // namespace upsweep::multi

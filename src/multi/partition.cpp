// partition on a group: each member's part by buckets, whose sizes on all members give the cuts.
#include "upsweep/partition.h"

#include "multi/index.h"
#include "multi/merged.h"

namespace upsweep::multi {

void partition(GroupCall& call) {
  require_index(call, 2);
  call.each([&](Member& m) { call.require_arrays(m, /*any_sizes=*/true); });
  const std::size_t offsets = call.first().out[2].count;

  std::vector<std::vector<std::uint64_t>> counts;  // by rank and bucket
  const auto arrange = [&](Member& m, const Arrays& from, const Arrays& to) {
    Request part = m.request;
    part.in[0] = from.keys, part.in[1] = from.values;
    part.out = {to.keys, to.values, m.landing(Type::u64, offsets)};
    m.run(part, call.rung());
  };
  merge(call, {.input = [](Member& m) { return Arrays{m.request.in[0], m.request.in[1]}; },
               .output = [](Member& m) { return Arrays{m.request.out[0], m.request.out[1]}; },
               .arrange_first = arrange,
               .arrange = arrange,
               .cut =
                   [&](std::span<const Arrays>, std::span<const std::uint64_t> begins) {
                     counts = call.gather_lists<std::uint64_t>([&](Member& m) {
                       std::vector<std::uint64_t> at(offsets), sizes(offsets - 1);
                       if (m.n() == 0) return sizes;
                       m.device.synchronize();
                       m.read(m.landing(Type::u64, offsets), 0, offsets, at.data());
                       for (std::size_t b = 0; b < sizes.size(); ++b) sizes[b] = at[b + 1] - at[b];
                       return sizes;
                     });
                     return cuts_of_buckets(counts, begins);
                   }});

  std::vector<std::uint64_t> all(offsets);
  for (const std::vector<std::uint64_t>& sizes : counts)
    for (std::size_t b = 0; b < sizes.size(); ++b) all[b + 1] += sizes[b];
  for (std::size_t b = 1; b < offsets; ++b) all[b] += all[b - 1];
  call.each([&](Member& m) { write_indices(m, m.request.out[2], all); });
  call.finish();
}

}  // namespace upsweep::multi

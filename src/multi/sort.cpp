// sort on a group: each member sorts its part; the cuts are where the first begins[d] elements of the whole result end.
//
// A cut is found from samples of the sorted parts. Elements are ordered by key, then by rank, then by index, so they
// are all different and the cut is exact even if all keys are equal. Each round, every member reads evenly spaced
// elements from the range in which a cut may still be. A sampled element lies before the cut if the elements before it,
// counted with the samples around it as bounds, are too few. With `samples` per member, a round divides the range by
// samples / (2 * members) or more.
#include "upsweep/sort.h"

#include <algorithm>
#include <vector>

#include "ladders/sort/contract.h"
#include "multi/index.h"
#include "multi/merged.h"
#include "upsweep/scan.h"

namespace upsweep::multi {
namespace {

// An element of a sorted part: its key's number, which compares as the keys do, and its index in the part.
struct Sample {
  std::uint64_t number, index;
};

// Returns the numbers that the sort compares.
template <class T>
auto numbering(const Request& request) {
  using Key = UnsignedAs<T>;
  Call call{.operation = request.operation, .in = {Array{.type = request.in[0].type}}, .scalars = request.scalars};
  sort_contract.complete(call);
  const Sorting how = sort_scalars.read(call.scalars);
  const auto order = ladders::sort::key_order<T>(request.operation.as<Order>(), how.float_order);
  const std::uint64_t first = how.first_bit, bits = *how.bits;
  const std::uint64_t mask = bits < 64 ? (std::uint64_t{1} << bits) - 1 : ~std::uint64_t{0};
  return [=](T key) { return static_cast<std::uint64_t>(order(std::bit_cast<Key>(key))) >> first & mask; };
}

// The range of indices in which a member's cut lies.
struct Range {
  std::uint64_t begin, end;

  // Samples are every step-th element, so that there are at most `count`, or all elements if they are fewer.
  std::uint64_t step(std::size_t count) const { return std::max<std::uint64_t>((end - begin + count - 1) / count, 1); }
  std::uint64_t first_sample(std::size_t count) const { return begin + step(count) / 2; }
  std::uint64_t samples(std::size_t count) const {
    const std::uint64_t first = first_sample(count);
    return first < end ? (end - first + step(count) - 1) / step(count) : 0;
  }
};

// Appends the samples of a range of a sorted part.
void append_samples(Member& m, const AnyView& sorted, const Range& range, std::size_t count, std::vector<Sample>& to) {
  visit_any(m.request.in[0].type, [&]<class T>(TypeTag<T>) {
    const auto number = numbering<T>(m.request);
    std::vector<T> keys(range.samples(count));
    m.read_every(sorted, range.first_sample(count), range.step(count), keys.size(), keys.data());
    for (std::size_t k = 0; k < keys.size(); ++k)
      to.push_back({number(keys[k]), range.first_sample(count) + k * range.step(count)});
  });
}

// Narrows the ranges of all members for the cut after `wanted` elements of the whole result. samples[r] are member r's,
// in ascending order.
void narrow(std::span<Range> ranges, std::span<const std::span<const Sample>> samples, std::uint64_t wanted) {
  const std::vector<Range> known(ranges.begin(), ranges.end());
  for (std::size_t r = 0; r < ranges.size(); ++r)
    for (const Sample& s : samples[r]) {
      // Bounds on the number of elements that precede s. Those outside a member's range need no more than the range's
      // ends: if s lies behind the cut, all elements before the ranges precede it; if it lies before the cut, none
      // behind the ranges do.
      std::uint64_t least = s.index, most = s.index;
      for (std::size_t other = 0; other < ranges.size(); ++other) {
        if (other == r) continue;
        const std::span<const Sample> theirs = samples[other];
        const auto precedes = [&](const Sample& t) {
          return t.number < s.number || (t.number == s.number && other < r);
        };
        const auto end = std::ranges::partition_point(theirs, precedes);
        least += end == theirs.begin() ? known[other].begin : std::prev(end)->index + 1;
        most += end == theirs.end() ? known[other].end : end->index;
      }
      if (most < wanted) ranges[r].begin = std::max(ranges[r].begin, s.index + 1);
      if (least >= wanted) ranges[r].end = std::min(ranges[r].end, s.index);
    }
}

std::vector<Cuts> find_cuts(GroupCall& call, std::span<const Arrays> sorted, std::span<const std::uint64_t> begins) {
  const auto members = static_cast<std::size_t>(call.size());
  // Of one member, for one cut. A round narrows the ranges to 2 * members / samples or less; three rounds find a cut of
  // 2^30 elements on two members.
  const std::size_t count = std::max<std::size_t>(32 * members, 256);
  std::vector<std::vector<Range>> cuts(members + 1);  // by cut and rank
  for (std::size_t d = 0; d <= members; ++d)
    for (int rank = 0; rank < call.size(); ++rank)
      cuts[d].push_back(d == 0        ? Range{0, 0}
                        : d < members ? Range{0, call.n(rank)}
                                      : Range{call.n(rank), call.n(rank)});
  const auto is_open = [](const Range& range) { return range.begin < range.end; };
  const auto is_found = [&](const std::vector<Range>& ranges) { return std::ranges::none_of(ranges, is_open); };

  while (!std::ranges::all_of(cuts, is_found)) {
    const auto lists = call.gather_lists<Sample>([&](Member& m) {
      std::vector<Sample> all;
      for (const std::vector<Range>& ranges : cuts)
        append_samples(m, sorted[static_cast<std::size_t>(m.rank - call.members().front().rank)].keys,
                       ranges[static_cast<std::size_t>(m.rank)], count, all);
      return all;
    });
    std::vector<std::size_t> read(members);  // samples of each member
    for (std::size_t d = 0; d <= members; ++d) {
      std::vector<std::span<const Sample>> samples;
      for (std::size_t r = 0; r < members; ++r) {
        samples.push_back(std::span(lists[r]).subspan(read[r], cuts[d][r].samples(count)));
        read[r] += samples.back().size();
      }
      narrow(cuts[d], samples, begins[d]);
    }
  }
  std::vector<Cuts> found(members, Cuts(members + 1));
  for (std::size_t d = 0; d <= members; ++d)
    for (std::size_t r = 0; r < members; ++r) found[r][d] = cuts[d][r].begin;
  return found;
}

// Returns an array of `first`, `first` + 1, ...: the exclusive sums of bytes of 1.
AnyView indices(Member& m, Type type, std::uint64_t first) {
  const AnyView out = m.take(type, m.n());
  const AnyView ones = m.take(Type::u8, m.n());
  {
    const Activated activated(m.device.platform());
    m.device.platform().fill(ones.data, 1, m.n(), m.device.stream());
  }
  Request request{.contract = &scan_contract, .operation = Op::sum, .in = {ones}, .out = {out}};
  const bool is_long = size_of(type) == 8;  // signed indices have the bits of unsigned ones
  request.out[0].type = is_long ? Type::u64 : Type::u32;
  request.scalars = scan_scalars.scalars(
      {.initial = is_long ? Scalar(std::uint64_t{first}) : Scalar(static_cast<std::uint32_t>(first))});
  m.run(request);
  return out;
}

}  // namespace

void sort(GroupCall& call) {
  call.each([&](Member& m) { call.require_arrays(m, /*any_sizes=*/true); });
  // Indices are values that are sorted with the keys.
  const bool wants_indices = !call.in_type(1) && call.out_type(1);
  if (wants_indices) require_index(call, 1);
  std::vector<AnyView> values;
  call.each([&](Member& m) {
    values.push_back(wants_indices ? indices(m, *call.out_type(1), call.before(m.rank)) : m.request.in[1]);
  });

  const auto slot = [&](const Member& m) { return static_cast<std::size_t>(m.rank - call.members().front().rank); };
  merge(call, {.input = [&](Member& m) { return Arrays{m.request.in[0], values[slot(m)]}; },
               .output = [](Member& m) { return Arrays{m.request.out[0], m.request.out[1]}; },
               .arrange =
                   [&](Member& m, const Arrays& from, const Arrays& to) {
                     Request part = m.request;
                     part.in = {from.keys, from.values};
                     part.out = {to.keys, to.values};
                     m.run(part, call.rung());
                   },
               .cut = [&](std::span<const Arrays> sorted,
                          std::span<const std::uint64_t> begins) { return find_cuts(call, sorted, begins); }});
}

}  // namespace upsweep::multi

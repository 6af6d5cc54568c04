// sort on a group: the members divide their parts so that member d gets the elements begins[d] to begins[d + 1] of the
// whole result, and sort what they receive.
//
// Elements are ordered by key, then by rank, then by index, so they are all different, and the cuts between the
// members' elements are exact even if all keys are equal. They are found in two steps:
//
//   1. Each member partitions its part, a pass over memory, so that every cut lies in a bucket of few elements: by the
//      highest digit of the keys or, if samples show that this does not divide them, by two keys around each cut. Keys
//      other than unsigned integers, or of which only some bits are compared, are sorted instead.
//   2. Each member sorts the buckets in which cuts lie. Every round, it reads evenly spaced elements from the range in
//      which a cut may still be. Such a sample lies before the cut if the elements before it, counted with the samples
//      around it as bounds, are too few.
#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "ladders/sort/contract.h"
#include "multi/index.h"
#include "multi/merged.h"
#include "upsweep/partition.h"
#include "upsweep/scan.h"

namespace upsweep::multi {
namespace {

// Fewer elements are sorted at once: a sort of that many takes less time than what a partition saves.
constexpr std::uint64_t least_partitioned = 1 << 10;

// An element of a sorted part: its key's number, which compares as the keys do, and its index in the part.
struct Sample {
  std::uint64_t number, index;
};

// Returns the function from the address of a key to the number that the sort compares.
std::function<std::uint64_t(const std::byte*)> numbering(const Request& request) {
  return visit_any(request.in[0].type, [&]<class T>(TypeTag<T>) -> std::function<std::uint64_t(const std::byte*)> {
    Call call{.operation = request.operation, .in = {Array{.type = type_of<T>()}}, .scalars = request.scalars};
    sort_contract.complete(call);
    const Sorting how = sort_scalars.read(call.scalars);
    const auto order = ladders::sort::key_order<T>(request.operation.as<Order>(), how.float_order);
    const std::uint64_t first = how.first_bit, bits = *how.bits;
    const std::uint64_t mask = bits < 64 ? (std::uint64_t{1} << bits) - 1 : ~std::uint64_t{0};
    return [=](const std::byte* key) {
      UnsignedAs<T> number;
      std::memcpy(&number, key, sizeof number);
      return static_cast<std::uint64_t>(order(number)) >> first & mask;
    };
  });
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
  const auto number = numbering(m.request);
  const std::size_t key = size_of(sorted.type), samples = range.samples(count);
  std::vector<std::byte> keys(samples * key);
  m.read_every(sorted, range.first_sample(count), range.step(count), samples, keys.data());
  for (std::size_t k = 0; k < samples; ++k)
    to.push_back({number(keys.data() + k * key), range.first_sample(count) + k * range.step(count)});
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

// Returns the cuts. cuts[d][rank] is the range in which cut d of a member lies, where its part is sorted.
std::vector<Cuts> find_cuts(GroupCall& call, std::span<const Arrays> sorted, std::span<const std::uint64_t> begins,
                            std::vector<std::vector<Range>> cuts) {
  const auto members = static_cast<std::size_t>(call.size());
  // Samples per member and cut. A round narrows the ranges to 2 * members / samples or less; three rounds find a cut of
  // 2^30 elements on two members.
  const std::size_t count = std::max<std::size_t>(32 * members, 256);
  const auto is_open = [](const Range& range) { return range.begin < range.end; };
  const auto is_found = [&](const std::vector<Range>& ranges) { return std::ranges::none_of(ranges, is_open); };

  while (!std::ranges::all_of(cuts, is_found)) {
    const auto lists = call.gather_lists<Sample>([&](Member& m) {
      std::vector<Sample> all;
      for (const std::vector<Range>& ranges : cuts)
        append_samples(m, sorted[m.index].keys, ranges[static_cast<std::size_t>(m.rank)], count, all);
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

// The ranges of cuts of sorted parts.
std::vector<std::vector<Range>> whole_ranges(const GroupCall& call) {
  const int members = call.size();
  std::vector<std::vector<Range>> cuts(static_cast<std::size_t>(members) + 1);
  for (int d = 0; d <= members; ++d)
    for (int rank = 0; rank < members; ++rank)
      cuts[static_cast<std::size_t>(d)].push_back({d < members ? 0 : call.n(rank), d == 0 ? 0 : call.n(rank)});
  return cuts;
}

// ---- partition first ------------------------------------------------------------------------------------------------

// A partition of the parts that leaves few elements in the buckets of the cuts.
template <class K>
struct Partitioning {
  Bucketing by;
  std::vector<K> splitters;  // bucket b holds the keys from splitters[b - 1] up to, but not including, splitters[b]
  static constexpr unsigned digit_bits = 8;  // the highest; one pass of a partition by digit takes 256 buckets
  std::size_t buckets() const { return by == Bucketing::digit ? std::size_t{1} << digit_bits : splitters.size() + 1; }
};

// Chooses by samples of the unsorted parts. The highest digit will do if few samples share that of a cut; a partition
// by splitters takes three times as long. If the samples mislead, the buckets of the cuts are larger, and the result is
// the same.
template <class K>
Partitioning<K> choose_partitioning(GroupCall& call, std::span<const std::uint64_t> begins) {
  // The quantile of one of 2^12 samples is within 2.5 % of its place with a probability of 99.8 %.
  constexpr double off = 0.025, few = 1.0 / 16;
  constexpr double wanted = 1 << 12;
  std::vector<K> samples;
  for (const std::vector<K>& one : call.gather_lists<K>([&](Member& m) {
         const Range all{0, m.n()};
         // In proportion to the part, so that each sample stands for as many elements.
         const double share = static_cast<double>(m.n()) / static_cast<double>(call.total());
         const std::size_t each = static_cast<std::size_t>(share * wanted) + 1;
         std::vector<K> keys(all.samples(each));
         m.read_every(m.request.in[0], all.first_sample(each), all.step(each), keys.size(), keys.data());
         return keys;
       }))
    samples.insert(samples.end(), one.begin(), one.end());
  const auto quantile = [&](double q) {
    const double last = static_cast<double>(samples.size() - 1);
    const auto at = samples.begin() + static_cast<std::ptrdiff_t>(std::clamp(q, 0.0, 1.0) * last);
    std::ranges::nth_element(samples, at);
    return *at;
  };
  constexpr unsigned shift = 8 * sizeof(K) - Partitioning<K>::digit_bits;
  Partitioning<K> chosen{.by = Bucketing::digit, .splitters = {}};
  const auto place_of = [&](std::size_t d) {
    return static_cast<double>(begins[d]) / static_cast<double>(call.total());
  };
  for (std::size_t d = 1; d + 1 < begins.size() && !samples.empty(); ++d) {
    const K digit = static_cast<K>(quantile(place_of(d)) >> shift);
    const auto alike = std::ranges::count_if(samples, [&](K key) { return key >> shift == digit; });
    if (static_cast<double>(alike) > few * static_cast<double>(samples.size())) chosen.by = Bucketing::splitters;
  }
  if (chosen.by == Bucketing::digit) return chosen;
  // Splitters ascend, and are above 0.
  const auto split = [&](K key) {
    if (key > (chosen.splitters.empty() ? K{0} : chosen.splitters.back())) chosen.splitters.push_back(key);
  };
  for (std::size_t d = 1; d + 1 < begins.size(); ++d) {
    split(quantile(place_of(d) - off));
    const K high = quantile(place_of(d) + off);
    if (high < std::numeric_limits<K>::max()) split(static_cast<K>(high + 1));
  }
  if (chosen.splitters.empty()) chosen.splitters.push_back(1);
  return chosen;
}

// The offsets of each member's buckets, by rank.
using Offsets = std::vector<std::vector<std::uint64_t>>;

// Sorts the buckets in which the cuts lie, and returns the ranges of the cuts there.
std::vector<std::vector<Range>> cut_buckets(GroupCall& call, std::span<const Arrays> arranged, const Offsets& offsets,
                                            std::span<const std::uint64_t> begins) {
  const auto members = static_cast<std::size_t>(call.size());
  const std::size_t buckets = offsets[0].size() - 1;
  std::vector<std::vector<Range>> cuts = whole_ranges(call);
  std::vector<bool> is_sorted(buckets);
  for (std::size_t d = 1; d < members; ++d) {
    // The bucket that holds the last element before the cut.
    std::uint64_t position = 0;
    std::size_t bucket = 0;
    for (; bucket + 1 < buckets; ++bucket) {
      std::uint64_t size = 0;
      for (const std::vector<std::uint64_t>& at : offsets) size += at[bucket + 1] - at[bucket];
      if (position + size >= begins[d]) break;
      position += size;
    }
    for (std::size_t r = 0; r < members; ++r) cuts[d][r] = {offsets[r][bucket], offsets[r][bucket + 1]};
    if (is_sorted[bucket]) continue;
    is_sorted[bucket] = true;
    call.each([&](Member& m) {
      const std::vector<std::uint64_t>& at = offsets[static_cast<std::size_t>(m.rank)];
      const std::uint64_t first = at[bucket], n = at[bucket + 1] - first;
      if (n < 2) return;
      const Arrays& arrays = arranged[m.index];
      const std::uint64_t words = arrays.values.count / std::max<std::uint64_t>(m.n(), 1);
      Request request{.contract = &sort_contract, .operation = m.request.operation, .scalars = m.request.scalars};
      request.in = {part_of(arrays.keys, first, n), part_of(arrays.values, words * first, words * n)};
      request.out = request.in;
      m.run(request);
    });
  }
  return cuts;
}

// True if keys compare as the unsigned integers that they are.
bool compares_as_unsigned(const GroupCall& call) {
  const Type type = call.first().in[0].type;
  const Sorting how = sort_scalars.read(call.first().scalars);
  return (type == Type::u32 || type == Type::u64) && call.first().operation == Operation(Order::ascending) &&
         how.first_bit == 0 && (!how.bits || *how.bits == 8 * size_of(type));
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

  Merge how{.input = [&](Member& m) { return Arrays{m.request.in[0], values[m.index]}; },
            .output = [](Member& m) { return Arrays{m.request.out[0], m.request.out[1]}; },
            .arrange =
                [&](Member& m, const Arrays& from, const Arrays& to) {
                  Request part = m.request;
                  part.in = {from.keys, from.values};
                  part.out = {to.keys, to.values};
                  m.run(part, call.rung());
                }};
  how.arrange_first = how.arrange;
  how.cut = [&](std::span<const Arrays> sorted, std::span<const std::uint64_t> begins) {
    return find_cuts(call, sorted, begins, whole_ranges(call));
  };
  std::vector<AnyView> splitters(values.size());
  Request partition{.contract = &partition_contract};
  std::size_t buckets = 0;
  const auto offsets_of = [&](Member& m) { return m.landing(Type::u64, buckets + 1); };
  if (compares_as_unsigned(call) && call.total() >= least_partitioned) {
    how.begin = [&](std::span<const std::uint64_t> begins) {
      visit_index(call.first().in[0].type, [&]<class T>(T) {
        const Partitioning<T> chosen = choose_partitioning<T>(call, begins);
        buckets = chosen.buckets();
        partition.operation = chosen.by;
        if (chosen.by == Bucketing::digit) {
          constexpr unsigned bits = Partitioning<T>::digit_bits;
          partition.scalars = partition_scalars.scalars({.first_bit = 8 * sizeof(T) - bits, .bits = bits});
          return;
        }
        call.each([&](Member& m) {
          splitters[m.index] = m.take(type_of<T>(), chosen.splitters.size());
          m.write(splitters[m.index], 0, chosen.splitters.size(), chosen.splitters.data());
        });
      });
    };
    how.arrange_first = [&](Member& m, const Arrays& from, const Arrays& to) {
      Request request = partition;
      request.in = {from.keys, from.values, splitters[m.index]};
      request.out = {to.keys, to.values, offsets_of(m)};
      m.run(request);
    };
    how.cut = [&](std::span<const Arrays> arranged, std::span<const std::uint64_t> begins) {
      const Offsets offsets = call.gather_lists<std::uint64_t>([&](Member& m) {
        std::vector<std::uint64_t> at(buckets + 1);
        if (m.n() == 0) return at;
        m.device.synchronize();
        m.read(offsets_of(m), 0, at.size(), at.data());
        return at;
      });
      return find_cuts(call, arranged, begins, cut_buckets(call, arranged, offsets, begins));
    };
  }
  merge(call, how);
}

}  // namespace upsweep::multi

#include "multi/merged.h"

#include <algorithm>
#include <numeric>

#include "multi/index.h"

namespace upsweep::multi {
namespace {

// Returns where each member's part of the result begins, and the end. The parts of the output are as large as the
// caller made them if together they hold exactly the result, and otherwise as large as the parts of the input.
std::vector<std::uint64_t> begins_of_result(GroupCall& call, const Merge& how) {
  auto rooms = call.gather<std::uint64_t>([&](Member& m) {
    const Arrays out = how.output(m);
    if (out.keys.data || out.keys.count > 0) return std::uint64_t{out.keys.count};
    const std::size_t words = m.n() > 0 && out.values.count % m.n() == 0 ? out.values.count / m.n() : 1;
    return std::uint64_t{out.values.count / std::max<std::size_t>(words, 1)};
  });
  if (std::accumulate(rooms.begin(), rooms.end(), std::uint64_t{0}) == call.total()) return begins_of(rooms);
  for (int rank = 0; rank < call.size(); ++rank) {
    std::uint64_t& room = rooms[static_cast<std::size_t>(rank)];
    if (room < call.n(rank))
      refuse(call.contract().name,
             "the output of member " + std::to_string(rank) + " has " + std::to_string(room) + " elements, its input " +
                 std::to_string(call.n(rank)),
             "the parts of the output have as many elements as the input together, or each as many as its member's");
    room = call.n(rank);
  }
  return begins_of(rooms);
}

}  // namespace

void merge(GroupCall& call, const Merge& how) {
  const std::vector<std::uint64_t> begins = begins_of_result(call, how);
  // Elements of an array of values per key: 2 if values of 16 bytes are given as elements of 8.
  std::uint64_t words = 0;
  for (const std::uint64_t one : call.gather<std::uint64_t>(
           [&](Member& m) { return m.n() > 0 ? std::uint64_t{how.input(m).values.count / m.n()} : std::uint64_t{0}; }))
    words = std::max(words, one);

  // 1. Each member's part, arranged.
  if (how.begin) how.begin(begins);
  std::vector<Arrays> arranged(call.members().size());
  call.each([&](Member& m) {
    if (m.n() == 0) return;
    const Arrays from = how.input(m);
    Arrays& to = arranged[m.index];
    to.keys = m.take(from.keys.type, m.n());
    if (words) to.values = m.take(from.values.type, words * m.n());
    how.arrange_first(m, from, to);
  });

  // 2. The blocks.
  const std::vector<Cuts> cuts = how.cut(arranged, begins);
  const auto block = [&](int from, int to) {
    const Cuts& at = cuts[static_cast<std::size_t>(from)];
    const std::uint64_t begin = at[static_cast<std::size_t>(to)];
    return std::pair{begin, at[static_cast<std::size_t>(to) + 1] - begin};
  };

  // 3. The exchange.
  std::vector<Arrays> received(call.members().size());
  call.exchange([&](Member& m, Transfer& transfer) {
    const auto rank = static_cast<std::size_t>(m.rank);
    const std::uint64_t n = begins[rank + 1] - begins[rank];
    Arrays& to = received[m.index];
    const Arrays& from = arranged[m.index];
    const Type key = call.first().in[0].type, value = call.in_type(1).value_or(call.out_type(1).value_or(Type::u8));
    to.keys = m.take(key, n);
    if (words) to.values = m.take(value, words * n);
    const auto piece = [&](int peer, const AnyView& array, std::uint64_t begin, std::uint64_t count,
                           std::uint64_t each) {
      const AnyView part = part_of(array, each * begin, each * count);
      return Piece{peer, static_cast<std::byte*>(part.data), part.count * size_of(part.type)};
    };
    std::uint64_t at = 0;
    for (int peer = 0; peer < call.size(); ++peer) {
      const auto [begin, count] = block(m.rank, peer);
      const auto [theirs, incoming] = block(peer, m.rank);
      if (count > 0) {
        transfer.sends.push_back(piece(peer, from.keys, begin, count, 1));
        if (words) transfer.sends.push_back(piece(peer, from.values, begin, count, words));
      }
      if (incoming > 0) {
        transfer.receives.push_back(piece(peer, to.keys, at, incoming, 1));
        if (words) transfer.receives.push_back(piece(peer, to.values, at, incoming, words));
      }
      at += incoming;
    }
  });

  // 4. Each member's part of the result.
  call.each([&](Member& m) {
    const Arrays& from = received[m.index];
    if (from.keys.count == 0) return;
    Arrays to = how.output(m);
    if (!to.keys.data) to.keys = m.take(from.keys.type, from.keys.count);
    how.arrange(m, from, to);
  });
  call.finish();
}

std::vector<Cuts> cuts_of_buckets(std::span<const std::vector<std::uint64_t>> counts,
                                  std::span<const std::uint64_t> begins) {
  const std::size_t members = counts.size(), buckets = counts.empty() ? 0 : counts[0].size();
  std::vector<Cuts> cuts(members, Cuts(members + 1));
  std::uint64_t position = 0;  // in the whole result, of the next bucket of the next member
  for (std::size_t b = 0; b < buckets; ++b)
    for (std::size_t r = 0; r < members; ++r) {
      const std::uint64_t end = position + counts[r][b];
      for (std::size_t d = 0; d <= members; ++d) cuts[r][d] += std::clamp(begins[d], position, end) - position;
      position = end;
    }
  return cuts;
}

}  // namespace upsweep::multi

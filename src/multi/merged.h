// Sort, partition and partition_if on a group: a member's elements go to several members, so that the parts of a result
// can be neither concatenated nor added.
//
//   1. Each member arranges its part in scratch: as one device would, or at least so that it can be cut.
//   2. Cuts divide each arranged part into one block per member. All members' blocks for a member are its part of the
//      result, though not yet in order.
//   3. The blocks move. Each member concatenates those it receives, in the order of ranks.
//   4. Each member arranges what it received. The result is stable because every step is.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "multi/group_call.h"

namespace upsweep::multi {

// Keys, and the values that move with them, if any.
struct Arrays {
  AnyView keys, values;
};

// Block d of an arranged part, which goes to member d, is elements [at[d], at[d + 1]).
using Cuts = std::vector<std::uint64_t>;  // [members + 1]

struct Merge {
  // Returns the arrays that the member arranges first, and those that get its part of the result. Keys or values of the
  // output may be empty, if the caller does not want them.
  std::function<Arrays(Member&)> input, output;
  // Called before the first arrangement, with where each member's part of the result begins; may be null.
  std::function<void(std::span<const std::uint64_t> begins)> begin{};
  // Arranges `from` in `to`. The first arrangement need only make contiguous blocks possible.
  std::function<void(Member&, const Arrays& from, const Arrays& to)> arrange_first{}, arrange{};
  // Returns every member's cuts, by rank. arranged[k] is that of this process's member k; begins[d] is the position in
  // the whole result of member d's part, and begins[members] is the number of all elements.
  std::function<std::vector<Cuts>(std::span<const Arrays> arranged, std::span<const std::uint64_t> begins)> cut{};
};

void merge(GroupCall& call, const Merge& how);

// Returns the cuts if every arranged part is a sequence of buckets, whose sizes are counts[rank][bucket].
std::vector<Cuts> cuts_of_buckets(std::span<const std::vector<std::uint64_t>> counts,
                                  std::span<const std::uint64_t> begins);

}  // namespace upsweep::multi

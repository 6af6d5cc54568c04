#include "multi/messages.h"

#include <algorithm>
#include <string>

#include "upsweep/error.h"

namespace upsweep::multi {

std::vector<std::vector<std::byte>> Messages::gather(std::span<const std::byte> mine) {
  if (has_ended_) throw Error(Code::lost_member, "another process has left the group");
  // 1. The first bytes of every message, and its size.
  First first{.bytes = mine.size(), .begin = {}};
  std::ranges::copy(mine.first(std::min(mine.size(), sizeof first.begin)), first.begin);
  std::vector<First> all(static_cast<std::size_t>(processes_));
  gather_equal_(&first, all.data(), sizeof first);
  std::vector<std::vector<std::byte>> messages;
  std::size_t longest = 0;
  for (const First& one : all) {
    if (one.bytes == has_left) {
      has_ended_ = true;
      throw Error(Code::lost_member, "process " + std::to_string(messages.size()) + " has left the group");
    }
    messages.emplace_back(one.begin, one.begin + std::min(one.bytes, sizeof one.begin));
    longest = std::max(longest, one.bytes - messages.back().size());
  }
  if (longest == 0) return messages;

  // 2. The rest of the longer ones, padded to the longest.
  std::vector<std::byte> rest(longest), rests(longest * all.size());
  std::ranges::copy(mine.subspan(std::min(mine.size(), sizeof first.begin)), rest.begin());
  gather_equal_(rest.data(), rests.data(), longest);
  for (std::size_t p = 0; p < all.size(); ++p) {
    const auto begin = rests.begin() + static_cast<std::ptrdiff_t>(p * longest);
    const auto more = static_cast<std::ptrdiff_t>(all[p].bytes - messages[p].size());
    messages[p].insert(messages[p].end(), begin, begin + more);
  }
  return messages;
}

void Messages::leave() noexcept {
  if (has_ended_) return;
  const First leaving{.bytes = has_left, .begin = {}};
  try {
    std::vector<First> all(static_cast<std::size_t>(processes_));
    gather_equal_(&leaving, all.data(), sizeof leaving);
  } catch (...) {  // the others cannot be told
  }
}

}  // namespace upsweep::multi

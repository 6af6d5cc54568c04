#include "ladders/segmented_scan/lab/oracle.h"

#include <algorithm>

#include "ladders/scan/lab/oracle.h"

namespace upsweep::ladders::segmented_scan {
namespace {

// The first head after element i, or n.
std::size_t next_head(const Heads& heads, std::size_t i, std::size_t n) {
  switch (heads.kind) {
    case HeadKind::flags: {
      const auto* const flags = static_cast<const std::uint8_t*>(heads.data);
      for (++i; i < n && flags[i] == 0;) ++i;
      return i;
    }
    case HeadKind::keys: {
      const auto* const keys = static_cast<const std::uint32_t*>(heads.data);
      for (++i; i < n && keys[i] == keys[i - 1];) ++i;
      return i;
    }
    case HeadKind::offsets:
      break;
  }
  const auto *const offsets = static_cast<const std::uint64_t*>(heads.data), *const end = offsets + heads.segments;
  const auto* const next = std::upper_bound(offsets, end, i);
  return next == end ? n : std::min<std::size_t>(*next, n);
}

}  // namespace

std::optional<std::string> find_mistake(Type type, Op op, bool inclusive, const void* in, const Heads& heads,
                                        const void* out, std::size_t n) {
  const auto at = [&](const void* array, std::size_t i) {
    return static_cast<const std::byte*>(array) + i * size_of(type);
  };
  for (std::size_t begin = 0, end; begin < n; begin = end) {
    end = next_head(heads, begin, n);
    if (auto wrong = scan::find_mistake(type, op, inclusive, at(in, begin), at(out, begin), end - begin))
      return "in the segment at " + std::to_string(begin) + ": " + *wrong;
  }
  return std::nullopt;
}

}  // namespace upsweep::ladders::segmented_scan

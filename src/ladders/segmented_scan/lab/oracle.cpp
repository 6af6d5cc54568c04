#include "ladders/segmented_scan/lab/oracle.h"

#include <algorithm>
#include <cstddef>

#include "ladders/scan/lab/oracle.h"

namespace upsweep::ladders::segmented_scan {

std::optional<std::string> find_mistake(Type type, Op op, bool inclusive, const void* in,
                                        std::span<const std::uint64_t> heads, const void* out, std::size_t n,
                                        scan::Zeros zeros, const Scalar& initial) {
  const auto at = [&](const void* array, std::size_t i) {
    return static_cast<const std::byte*>(array) + i * size_of(type);
  };
  for (std::size_t begin = 0, end; begin < n; begin = end) {
    const auto next = std::upper_bound(heads.begin(), heads.end(), begin);
    end = next == heads.end() ? n : std::min<std::size_t>(*next, n);
    if (auto wrong =
            scan::find_mistake(type, op, inclusive, at(in, begin), at(out, begin), end - begin, zeros, initial))
      return "in the segment at " + std::to_string(begin) + ": " + *wrong;
  }
  return std::nullopt;
}

}  // namespace upsweep::ladders::segmented_scan

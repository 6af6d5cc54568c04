// Processes large arrays in parts, on all cores.
#pragma once
#include <algorithm>
#include <cstddef>

#include "cpu/parallel.h"

namespace upsweep {

inline constexpr std::size_t part_size = 1 << 18;  // elements: large enough to amortise thread start
constexpr std::size_t parts_of(std::size_t n) { return (n + part_size - 1) / part_size; }

// Calls f(p, begin, end) for each part p of n elements, on all cores.
void for_each_part(std::size_t n, auto&& f) {
  parallel(static_cast<int>(parts_of(n)), 0, [&](int p) {
    const std::size_t begin = static_cast<std::size_t>(p) * part_size;
    f(static_cast<std::size_t>(p), begin, std::min(begin + part_size, n));
  });
}

}  // namespace upsweep

// The size of the last-level cache, which decides how a pass over memory is best made.
#pragma once
#include <cstddef>

namespace upsweep {

// Bytes of the largest cache that core 0 sees; read once.
std::size_t last_level_cache_bytes();

}  // namespace upsweep

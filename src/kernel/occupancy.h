// The number of resident blocks per multiprocessor.
#pragma once
#include "kernel/kernel.h"

namespace upsweep {

// Returns how many blocks of `threads` threads and `shared_bytes` of shared memory are resident per multiprocessor, at
// least 1, disregarding registers. The hardware reserves another 1 KB of shared memory per block.
inline unsigned resident(std::size_t shared_bytes, unsigned threads) {
  const std::size_t by_memory = (machine().shared_per_block + 1024) / (shared_bytes + 1024);
  const std::size_t by_threads = static_cast<std::size_t>(machine().threads_per_multiprocessor) / threads;
  const std::size_t least = by_memory < by_threads ? by_memory : by_threads;
  return static_cast<unsigned>(least < 1 ? 1 : least);
}

}  // namespace upsweep

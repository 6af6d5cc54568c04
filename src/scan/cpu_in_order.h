// Blocks on all cores, of which one step is taken in the order of the blocks.
#pragma once
#include <atomic>
#include <cstddef>
#include <thread>

#include "base/parallel.h"

namespace upsweep::ladders::scan {

// Calls work(b, in_turn) for each b in [0, blocks), on up to `threads` cores (0: all). Within it, in_turn(f) must be
// called once; it calls f() when block b - 1 has left its f, and what was written there can be read here. Blocks are
// taken by ticket, so whoever is waited for has begun; one that has lost its core is lent the waiting one's.
template <class Work>
void in_order(std::size_t blocks, int threads, Work&& work) {
  alignas(64) std::atomic<std::size_t> next{0};  // a cache line each: the one is taken while the other is watched
  alignas(64) std::atomic<std::size_t> turn{0};
  parallel(threads > 0 ? threads : hardware_threads(), threads, [&](int) {
    for (std::size_t b; (b = next.fetch_add(1, std::memory_order_relaxed)) < blocks;)
      work(b, [&](auto&& f) {
        for (unsigned spins = 0; turn.load(std::memory_order_acquire) != b; ++spins)
          if (spins > 1000) std::this_thread::yield();  // some microseconds: longer than a block that is on its way
        f();
        turn.store(b + 1, std::memory_order_release);
      });
  });
}

}  // namespace upsweep::ladders::scan

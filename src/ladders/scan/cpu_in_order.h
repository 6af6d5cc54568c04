// Blocks on all cores, of which one step is taken in the order of the blocks.
#pragma once
#include <atomic>
#include <cstddef>
#include <optional>
#include <thread>

#include "cpu/parallel.h"

namespace upsweep::ladders::scan {

// Calls work(b, in_turn, take_next) for each b in [0, blocks), on up to `threads` cores. Within it, in_turn(f)
// must be called once; it calls f() when block b - 1 has left its f, and what was written there can be read here.
// take_next() is for those who would fetch early: the block that this core comes to next, if there is one. Blocks are
// taken by ticket, so whoever is waited for has begun, or has one before it to finish; one that has lost its core is
// lent the waiting one's.
template <class Work>
void in_order(std::size_t blocks, int threads, Work&& work) {
  alignas(64) std::atomic<std::size_t> next{0};  // a cache line each: the one is taken while the other is watched
  alignas(64) std::atomic<std::size_t> turn{0};
  parallel(threads, threads, [&](int) {
    const auto take = [&] { return next.fetch_add(1, std::memory_order_relaxed); };
    for (std::size_t b = take(); b < blocks;) {
      std::optional<std::size_t> taken;
      work(
          b,
          [&](auto&& f) {
            for (unsigned spins = 0; turn.load(std::memory_order_acquire) != b; ++spins)
              if (spins > 1000) std::this_thread::yield();  // some microseconds: longer than a block that is on its way
            f();
            turn.store(b + 1, std::memory_order_release);
          },
          [&] { return *(taken = take()); });
      b = taken ? *taken : take();
    }
  });
}

}  // namespace upsweep::ladders::scan

// Runs blocks on several cores; one step of each block runs in block order.
#pragma once
#include <atomic>
#include <cstddef>
#include <optional>
#include <thread>

#include "cpu/parallel.h"

namespace upsweep::ladders::scan {

// Calls work(b, in_turn, take_next) for each b in [0, blocks), on up to `threads` cores.
//   in_turn(f)    must be called exactly once: calls f() after block b - 1's f has returned; its writes are visible.
//   take_next()   may be called once, to prefetch: returns this core's next block, or `blocks` or more if none is left.
// Blocks are claimed by ticket, so every block waited for has been claimed by a core, which may still be finishing an
// earlier block. Waiting cores yield, in case that core has been descheduled.
template <class Work>
void in_order(std::size_t blocks, int threads, Work&& work) {
  alignas(64) std::atomic<std::size_t> next{0};  // one cache line each: some cores claim blocks while others poll
  alignas(64) std::atomic<std::size_t> turn{0};
  parallel(threads, threads, [&](int) {
    const auto take = [&] { return next.fetch_add(1, std::memory_order_relaxed); };
    for (std::size_t b = take(); b < blocks;) {
      std::optional<std::size_t> taken;
      work(
          b,
          [&](auto&& f) {
            for (unsigned spins = 0; turn.load(std::memory_order_acquire) != b; ++spins)
              if (spins > 1000) std::this_thread::yield();  // after a few microseconds, longer than one block takes
            f();
            turn.store(b + 1, std::memory_order_release);
          },
          [&] { return *(taken = take()); });
      b = taken ? *taken : take();
    }
  });
}

}  // namespace upsweep::ladders::scan

// Runs blocks on all cores, with one step per block in block order.
#pragma once
#include <atomic>
#include <cstddef>
#include <optional>
#include <thread>

#include "cpu/parallel.h"

namespace upsweep::ladders::scan {

// Calls work(b, in_turn, take_next) for each b in [0, blocks), on up to `threads` cores. work must call in_turn(f)
// exactly once, which calls f() after the f of block b - 1 has returned; f sees everything that it wrote. To prefetch,
// work may call take_next() once, which returns the next block of this core (`blocks` or more if none is left). Blocks
// are claimed by ticket, so every block waited for has been claimed by a core, which may still be finishing an earlier
// one. Waiting cores yield, in case that core has been descheduled.
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

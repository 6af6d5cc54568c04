// Fork-join over the cores that this process may use.
//
// A custom pool rather than oneTBB, because fork and join dominate at sizes just beyond one core's cache. An i32 sum
// with the same loops on two Zen 4 cores, in us; from 2^20 elements up, the three tie:
//   elements                                      2^16   2^17   2^18   2^19
//   this pool                                      1.4    2.5    4.7   10.7
//   tbb::parallel_for with affinity_partitioner    2.4    3.5    5.6   11.8
//   tbb::parallel_for with static_partitioner      2.4    4.6    9.0   12.8
#pragma once
#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "base/call.h"

namespace upsweep {

// Returns the number of cores that this process may run on (its affinity mask, read once), at least 1.
int hardware_threads();

namespace detail {
using PartFn = void (*)(void* context, int part) noexcept;
void run_parts(int parts, int threads, PartFn run, void* context) noexcept;
}  // namespace detail

// Calls f(part) for each part in [0, parts) on at most `threads` cores (0: all), the calling thread included, and
// returns when all parts are done; the writes of f are then visible. f must not throw. Each core gets consecutive parts
// and then steals from the others, which balances uneven parts. A nested call, or one made while another thread is
// inside parallel(), runs its parts serially on its own thread, because the cores are busy anyway.
template <class F>
void parallel(int parts, int threads, F&& f) noexcept {
  using Function = std::remove_reference_t<F>;
  detail::run_parts(
      parts, threads, [](void* context, int part) noexcept { (*static_cast<Function*>(context))(part); }, &f);
}

// The partition of a pass over n elements: part i is [i * size, min((i + 1) * size, n)).
struct Parts {
  static constexpr int most = 256;  // so that one result per part fits on the stack
  std::size_t size;                 // elements, whole cache lines
  int count;                        // 1: one core does it all
};

// Returns the number of cores that a call may use: all by default, at most Parts::most.
inline int threads_of(const Tuning& tuning) {
  const auto asked = tuning.threads.value_or(static_cast<unsigned>(hardware_threads()));
  return static_cast<int>(std::min<unsigned>(asked, Parts::most));
}

// True if a pass over this many bytes is faster on one core than with fork and join. An i32 sum on one core and on two,
// in us:
//   128 KiB, called in a loop                  1.1   1.6
//   256 KiB, called in a loop                  2.2   1.4
//   256 KiB, other work in between the calls   2.2   2.4   (the data is then in one core's cache)
constexpr bool one_core(std::size_t bytes) { return bytes <= 128 << 10; }

// Partitions a pass that reads and writes `arrays` arrays of n elements.
inline Parts cut(std::size_t n, std::size_t element_bytes, int threads, std::size_t arrays = 1) {
  constexpr std::size_t line = 64;
  // Parts of a pass over main memory: small enough that a core that loses its time slice leaves little undone, large
  // enough for the hardware prefetchers to ramp up. Parts of 64 KiB lose 20 % at 2^27 f32; parts of 1 to 4 MiB tie with
  // one half of the array per core.
  constexpr std::size_t part_bytes = 1 << 20;
  const std::size_t bytes = n * element_bytes;
  if (one_core(arrays * bytes) || threads <= 1) return {n, 1};
  const auto least = static_cast<std::size_t>(std::min(threads, Parts::most));
  const auto wanted = std::clamp<std::size_t>(bytes / part_bytes, least, Parts::most);
  const std::size_t per_line = line / element_bytes;
  const std::size_t size = (n / wanted / per_line + 1) * per_line;
  return {size, static_cast<int>((n + size - 1) / size)};
}

}  // namespace upsweep

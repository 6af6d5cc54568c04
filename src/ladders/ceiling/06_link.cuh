// ceiling/link: copies between pinned host memory and the device in both directions, two words in per word out.
//
// One stream per direction. Each direction has its own copy engine and its own lanes of the bus, so the slower
// direction determines the time, unless host memory cannot keep up with both.
#pragma once
#include "base/threshold.h"
#include "kernel/host.h"
#include "ladders/ceiling/contract.h"

namespace upsweep::ladders::ceiling {

// Words per copy: 32 MiB, enough to hide the latency of starting a copy.
inline constinit Threshold link_chunk{"link_chunk", 1 << 23, 1 << 12, {.min = 1, .max = 1 << 26}};

struct link {
  static constexpr MemoryKind arrays = MemoryKind::pinned;
  static constexpr Story story{.idea = "copies in both directions at once", .limits = "any n"};
  static constexpr Threshold* thresholds[] = {&link_chunk};
  static Status run(const Call& c) {
    const std::size_t chunk = link_chunk, bytes = chunk * sizeof(std::uint32_t);
    const auto* const in = c.in[0].as<const std::uint32_t>();  // [n]
    auto* const out = c.out[0].as<std::uint32_t>();            // [n / 2]
    Scratch scratch(*c.workspace);
    auto* const kept = scratch.take<std::byte>(bytes);
    auto* const overwritten = scratch.take<std::byte>(bytes);
    if (!scratch) return {Code::out_of_memory, 0, "no device memory for two chunks"};
    const auto size = [=](std::size_t left) { return std::min(left, chunk) * sizeof(std::uint32_t); };

    // The first chunk stays on the device as the source of the copies back; all other chunks overwrite one buffer.
    if (Status s = copy_queued(kept, in, size(c.n()), c.stream); !s) return s;
    Fork fork(c.stream, 2);
    for (std::size_t at = chunk; at < c.n(); at += chunk)
      if (Status s = copy_queued(overwritten, in + at, size(c.n() - at), fork[0]); !s) return s;
    for (std::size_t at = 0; at < c.n() / 2; at += chunk)
      if (Status s = copy_queued(out + at, kept, size(c.n() / 2 - at), fork[1]); !s) return s;
    return fork.join();
  }
};

}  // namespace upsweep::ladders::ceiling

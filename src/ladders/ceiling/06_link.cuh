// ceiling/link: as many bytes as pass between pinned host memory and the device, two arrays there for one back.
//
// Two independent streams of copies, one per direction. Each has its own copy engine and its own lanes of the bus, so
// the longer direction decides the time, unless the host's memory cannot keep up with both.
#pragma once
#include "kernel/host.h"
#include "ladders/ceiling/contract.h"

namespace upsweep::ladders::ceiling {

struct link {
  static constexpr MemoryKind arrays = MemoryKind::pinned;
  static constexpr Story story{.idea = "copies in both directions at once", .limits = "any n"};
  static Status run(const Call& c) {
    constexpr std::size_t chunk = link_chunk(emulated), bytes = chunk * sizeof(std::uint32_t);
    const auto* const in = c.in[0].as<const std::uint32_t>();  // [n]
    auto* const out = c.out[0].as<std::uint32_t>();            // [n / 2]
    auto* const kept = static_cast<std::byte*>(c.workspace->scratch(2 * bytes));
    std::byte* const overwritten = kept + bytes;
    if (!kept) return {Code::out_of_memory, 0, "no device memory for two chunks"};
    const auto size = [=](std::size_t left) { return std::min(left, chunk) * sizeof(std::uint32_t); };

    // The first chunk is kept for the copies back; all others overwrite one buffer.
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

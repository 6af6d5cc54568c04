// A rung: one named implementation of a primitive on one backend, with its story and how to call it.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "base/call.h"

namespace upsweep {

// What a rung says of itself; printed by the lab beside what it measures, and in the generated tables.
struct Story {
  std::string_view idea{};        // what changed from the rung below, and why that should be faster
  std::string_view prediction{};  // what should be measured: "beats X below 2^18, ties above"
  std::string_view guarantees{};  // of result and order
  std::string_view limits{};      // sizes, types, operators
  std::string_view source{};      // paper or article, year
};

// Where a rung's arrays lie: in its platform's own memory, or in host memory, of which pinned pages stay where they are,
// so that a device copies from and to them by itself.
enum class MemoryKind : std::uint8_t { device, pageable, pinned };

struct Rung {
  std::string_view primitive;
  std::string_view name;
  Backend backend = Backend::cpu;
  Story story;
  bool reproducible = false;        // the same bits at any grid, thread count, alignment, split and backend
  bool expected_wrong = false;      // a deliberate bug: never a default, and the checker must catch it
  bool flushes_subnormals = false;  // f32 results may lack subnormal addends (hardware atomics on global memory)
  bool gpu_only = false;            // no honest emulation exists: tested on GPUs alone
  bool synchronises = false;        // waits for the device inside a call: cannot be captured into a graph
  MemoryKind arrays = MemoryKind::device;
  std::size_t largest = 0;          // elements that it takes at most; 0: any number
  bool peer = false;                // someone else's implementation, timed in the same run
  std::string_view version{};       // of a peer: "CUB 3.0.1"
  // The function for these types, or null when this rung does not take them. Resolve once, call many times.
  RunFn (*find)(Type, Op) = nullptr;

  bool from_host() const { return arrays != MemoryKind::device; }
  // The function for a case, or null.
  RunFn find_for(Type type, Op op, std::size_t n) const {
    return largest != 0 && n > largest ? nullptr : find(type, op);
  }
};

// The rung as a peer, of which version.
constexpr Rung as_peer(Rung rung, std::string_view version) {
  rung.peer = true;
  rung.version = version;
  return rung;
}

using Rungs = std::span<const Rung* const>;

// Null when the ladder has no rung of that name.
inline const Rung* find_rung(Rungs rungs, std::string_view primitive, std::string_view name) {
  for (const Rung* rung : rungs)
    if (rung->primitive == primitive && rung->name == name) return rung;
  return nullptr;
}

}  // namespace upsweep

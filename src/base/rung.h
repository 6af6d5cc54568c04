// A rung: a named implementation of a primitive on one backend, with its story and the function to call.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "base/call.h"

namespace upsweep {

// A rung's description of itself. The lab prints it beside the measurements; the generated tables contain it.
struct Story {
  std::string_view idea{};        // what changed from the rung below, and why that should be faster
  std::string_view prediction{};  // the measurement to expect: "beats X below 2^18, ties above"
  std::string_view guarantees{};  // on result and order
  std::string_view limits{};      // sizes, types, operators
  std::string_view source{};      // paper or article, year
};

// Where a rung's arrays are: in its platform's memory, or in host memory. Pinned pages are page-locked, so that a
// device can copy from and to them directly.
enum class MemoryKind : std::uint8_t { device, pageable, pinned };

struct Rung {
  std::string_view primitive;
  std::string_view name;
  Backend backend = Backend::cpu;
  Story story;
  bool reproducible = false;        // the same bits at any grid, thread count, alignment, split and backend
  bool expected_wrong = false;      // a deliberate bug: never a default, and the checker must catch it
  bool flushes_subnormals = false;  // f32 results may lack subnormal addends (global atomics flush them)
  bool gpu_only = false;            // cannot be emulated faithfully: tested on GPUs only
  bool synchronises = false;        // waits for the device inside a call: cannot be captured into a graph
  MemoryKind arrays = MemoryKind::device;
  std::size_t largest = 0;          // most elements that it takes; 0: any number
  bool peer = false;                // a third-party implementation, timed in the same run
  std::string_view version{};       // of a peer: "CUB 3.0.1"
  // Returns the function for a main input's type and an operation, or null if the rung does not support them. Resolve
  // once, call many times.
  RunFn (*find)(Type, Operation) = nullptr;

  bool from_host() const { return arrays != MemoryKind::device; }
  // The same for n elements: also null if n exceeds `largest`.
  RunFn find_for(Type type, Operation operation, std::size_t n) const {
    return largest != 0 && n > largest ? nullptr : find(type, operation);
  }
};

// Returns the rung marked as a peer of this version.
constexpr Rung as_peer(Rung rung, std::string_view version) {
  rung.peer = true;
  rung.version = version;
  return rung;
}

using Rungs = std::span<const Rung* const>;

// Returns null if the ladder has no rung of that name.
inline const Rung* find_rung(Rungs rungs, std::string_view primitive, std::string_view name) {
  for (const Rung* rung : rungs)
    if (rung->primitive == primitive && rung->name == name) return rung;
  return nullptr;
}

}  // namespace upsweep

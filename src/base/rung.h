// A rung: a named implementation of a primitive on one backend, with its story and the function to call.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "base/call.h"
#include "base/machine.h"

namespace upsweep {

// The backend for which this unit compiles kernels.
#if defined(__CUDACC__)
inline constexpr Backend kernel_backend = Backend::cuda;
#else
inline constexpr Backend kernel_backend = Backend::simt;
#endif

struct Rung {
  std::string_view primitive;
  std::string_view name;
  Backend backend = Backend::cpu;
  Story story;
  bool reproducible = false;        // the same bits at any grid, thread count, alignment, split and backend
  bool expected_wrong = false;      // a deliberate bug: never a default, and the checker must catch it
  bool flushes_subnormals = false;  // f32 results may lack subnormal addends (global atomics flush them)
  bool blocks_in_order = false;     // a block waits for blocks of lower numbers, which hardware dispatches first
  bool gpu_only = false;            // cannot be emulated faithfully: tested on GPUs only
  bool any_order = false;           // elements that the contract keeps in their order may come in any: not stable
  bool synchronises = false;        // waits for the device inside a call: cannot be captured into a graph
  bool limits_scratch = false;      // keeps to a call's limit of scratch memory, where the contract has one
  MemoryKind arrays = MemoryKind::device;
  Needs needs{};               // of the hardware, for some of its calls at least
  std::size_t largest = 0;     // most elements that it takes; 0: any number
  std::size_t largest_emulated = 0;  // where the work is the square of n: most for an emulator's check; 0: any number
  std::size_t ring_bytes = 0;  // of the main input that fill the rings in one block's shared memory; 0: it has none
  bool peer = false;           // a third-party implementation, timed in the same run
  std::string_view version{};  // of a peer: "CUB 3.0.1"
  // Returns the function for a main input's type and an operation, or null if the rung does not support them. Resolve
  // once, call many times.
  RunFn (*find)(Type, Operation) = nullptr;

  bool from_host() const { return arrays != MemoryKind::device; }
  // The same for n elements: also null if n exceeds `largest`.
  RunFn find_for(Type type, Operation operation, std::size_t n) const {
    return largest != 0 && n > largest ? nullptr : find(type, operation);
  }
};

using Rungs = std::span<const Rung* const>;

// Returns null if the ladder has no rung of that name.
inline const Rung* find_rung(Rungs rungs, std::string_view primitive, std::string_view name) {
  for (const Rung* rung : rungs)
    if (rung->primitive == primitive && rung->name == name) return rung;
  return nullptr;
}

}  // namespace upsweep

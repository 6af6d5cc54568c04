// A rung: a named implementation of a primitive on one backend, with its story and the function to call.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "base/call.h"
#include "base/machine.h"
#include "base/threshold.h"

namespace upsweep {

// The backend for which this translation unit compiles kernels.
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
  bool any_order = false;           // not stable: elements that the contract keeps in order may come in any order
  bool takes_initial = false;       // supports a call's initial value, if the contract has one
  bool takes_wider_output = false;  // supports sums wider than the elements, if the contract has them
  bool takes_segments = false;      // reduces segments, if the contract has them
  bool synchronises = false;        // waits for the device inside a call: cannot be captured into a graph
  bool takes_scratch = false;       // a CPU rung that takes scratch, and returns from a dry call once it has done so
  bool limits_scratch = false;      // respects a call's limit on scratch memory, if the contract has one
  MemoryKind arrays = MemoryKind::device;
  Needs needs{};                     // hardware that some or all of its calls need
  std::size_t largest = 0;           // maximum number of elements; 0: unlimited
  std::size_t largest_emulated = 0;  // maximum n on an emulator, where more elements take minutes; 0: unlimited
  std::size_t ring_bytes = 0;  // bytes of the main input that fill one block's rings in shared memory; 0: no rings
  std::size_t tile_bytes = 0;  // bytes of the main input in a block's largest tile; 0: no tiles, or small ones
  std::span<Threshold* const> thresholds{};  // that the rung reads; an emulator's library has separate copies
  bool peer = false;                         // a third-party implementation, timed in the same run
  std::string_view version{};                // of a peer: "CUB 3.0.1"
  // Returns the function for a main input's type and an operation, or null if the rung does not support them. Look it
  // up once and call it many times.
  RunFn (*find)(Type, Operation) = nullptr;

  bool from_host() const { return arrays != MemoryKind::device; }
  // As find(), but also returns null if n exceeds `largest`.
  RunFn find_for(Type type, Operation operation, std::size_t n) const {
    return largest != 0 && n > largest ? nullptr : find(type, operation);
  }
};

// Runs a call on a dry stream, so that call.workspace measures its scratch.
inline Status run_dry(const Rung& rung, RunFn run, Call call) {
  call.stream.dry = true;
  return rung.backend == Backend::cpu && !rung.takes_scratch ? Status{} : run(call);
}

using Rungs = std::span<const Rung* const>;

// Returns the rung of that name, or null if the ladder has none.
inline const Rung* find_rung(Rungs rungs, std::string_view primitive, std::string_view name) {
  for (const Rung* rung : rungs)
    if (rung->primitive == primitive && rung->name == name) return rung;
  return nullptr;
}

}  // namespace upsweep

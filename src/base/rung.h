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

// The operation that an operation's struct stands for; none if it stands for none.
template <class O>
constexpr Operation operation_of() {
  if constexpr (requires { O::op; })
    return O::op;
  else if constexpr (requires { O::selection; })
    return O::selection;
  else if constexpr (requires { O::binning; })
    return O::binning;
  else if constexpr (requires { O::bucketing; })
    return O::bucketing;
  else
    return {};
}

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
  MemoryKind arrays = MemoryKind::device;
  Needs needs{};               // of the hardware, for some of its calls at least
  std::size_t largest = 0;     // most elements that it takes; 0: any number
  std::size_t ring_bytes = 0;  // of the main input that fill the rings in one block's shared memory; 0: it has none
  bool peer = false;           // a third-party implementation, timed in the same run
  std::string_view version{};  // of a peer: "CUB 3.0.1"
  // Returns the function for a main input's type and an operation, or null if the rung does not support them. Resolve
  // once, call many times.
  RunFn (*find)(Type, Operation) = nullptr;
  // The same function without the step from a call to the ladder's Args, to which it takes a pointer.
  RunArgsFn (*find_for_args)(Type, Operation) = nullptr;
  // True if the rung leaves this call to another rung, as it is; false tells nothing. Null: it declares no such calls.
  bool (*delegates)(const Call&) = nullptr;

  bool from_host() const { return arrays != MemoryKind::device; }
  // The same for n elements: also null if n exceeds `largest`.
  RunFn find_for(Type type, Operation operation, std::size_t n) const {
    return largest != 0 && n > largest ? nullptr : find(type, operation);
  }
  // Runs the rung with its ladder's Args<T, O>.
  template <class T, class O>
  Status run(const void* args) const {
    if (!machine().meets(needs)) return {Code::unsupported, 0, "a rung that this one runs needs more than the device has"};
    const RunArgsFn run = find_for_args(type_of<T>(), operation_of<O>());
    return run ? run(args)
               : Status{Code::unsupported, 0, "a rung that this one runs is not compiled for the type here"};
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

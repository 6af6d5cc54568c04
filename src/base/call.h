// The arguments of one rung call, the same for every primitive and backend. Plain data: constructing it allocates
// nothing.
#pragma once
#include <array>
#include <cstddef>

#include "base/implementation.h"
#include "upsweep/scalar.h"
#include "upsweep/types.h"

namespace upsweep {

// An array argument. One type serves inputs and outputs; rungs never write to their inputs.
struct Array {
  Type type = Type::u8;
  std::size_t count = 0;  // elements
  void* data = nullptr;   // in the backend's memory, aligned to the element only

  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
  std::size_t bytes() const { return count * size_of(type); }
};
constexpr Array input_array(Type type, std::size_t count, const void* data) {
  return {type, count, const_cast<void*>(data)};
}

inline constexpr std::size_t arrays_of_a_call = 4;  // maximum number of inputs, and of outputs

// One call of a rung. Arrays and scalars are in the order of the primitive's contract.
struct Call {
  Operation operation{};
  std::array<Array, arrays_of_a_call> in{};
  std::array<Array, arrays_of_a_call> out{};
  Scalars scalars{};
  Tuning tuning{};
  MemoryKind arrays = MemoryKind::device;  // the memory that holds the arrays
  Workspace* workspace = nullptr;          // scratch; used by one stream at a time
  Stream stream{};

  Type type() const { return in[0].type; }       // of the main input
  std::size_t n() const { return in[0].count; }  // of the main input
  Execution execution() const { return {tuning, workspace, stream}; }
};

using RunFn = Status (*)(const Call&);

}  // namespace upsweep

// The arguments of one rung call, the same for every primitive and backend. Plain data: making one allocates nothing.
#pragma once
#include <array>
#include <cstddef>
#include <string_view>

#include "upsweep/error.h"
#include "upsweep/scalar.h"
#include "upsweep/types.h"

namespace upsweep {

class Workspace;

// A queue of device work: a cudaStream_t on CUDA (null: the default stream). The CPU runs synchronously and ignores it.
struct Stream {
  void* handle = nullptr;
};

// An array argument. One type serves inputs and outputs; rungs never write to their inputs.
struct Array {
  Type type = Type::u8;
  std::size_t count = 0;  // elements
  void* data = nullptr;   // in the backend's memory, aligned to the element, not more

  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
  std::size_t bytes() const { return count * size_of(type); }
};
constexpr Array input_array(Type type, std::size_t count, const void* data) {
  return {type, count, const_cast<void*>(data)};
}

// Launch parameters: they change how a rung runs, never what it returns, except for the last bits of float sums. 0: the
// rung's default.
struct Tuning {
  unsigned block = 0;     // threads per block of a GPU rung
  unsigned grid = 0;      // blocks per launch
  unsigned threads = 0;   // of a CPU rung; 0: all cores
  unsigned streams = 0;   // of rungs that copy from host memory
  std::size_t chunk = 0;  // elements per copy of each of these streams

  constexpr unsigned block_or(std::size_t own) const { return block ? block : static_cast<unsigned>(own); }
  constexpr unsigned grid_or(std::size_t own) const { return grid ? grid : static_cast<unsigned>(own); }
  friend constexpr bool operator==(const Tuning&, const Tuning&) = default;
};

// Arrays and scalars are in the order of the primitive's contract.
struct Call {
  Operation operation{};
  std::array<Array, 4> in{};
  std::array<Array, 4> out{};
  std::array<Scalar, 4> scalars{};
  Tuning tuning{};
  Workspace* workspace = nullptr;  // scratch; used by one stream at a time
  Stream stream{};

  Type type() const { return in[0].type; }       // of the main input
  std::size_t n() const { return in[0].count; }  // of the main input
};

using RunFn = Status (*)(const Call&);

}  // namespace upsweep

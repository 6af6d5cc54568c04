// The vocabulary of a rung's implementation: what a rung declares about itself, and what every call passes besides
// arrays. From base/, kernel files need only this header and machine.h.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/workspace.h"
#include "upsweep/half.h"
#include "upsweep/operators.h"
#include "upsweep/status.h"

namespace upsweep {

// ---- declared by a rung ---------------------------------------------------------------------------------------------

// A rung's description of itself, which the laboratory prints with the measurements and in the generated tables.
struct Story {
  std::string_view idea{};        // what changed from the rung below, and why that should be faster
  std::string_view prediction{};  // the measurement to expect: "beats X below 2^18, ties above"
  std::string_view guarantees{};  // about result and order
  std::string_view limits{};      // sizes, types, operators
  std::string_view source{};      // paper or article, year
};

// The types that the emulators compile a rung for (base/coverage.h). The default is `kinds`; a rung whose kernels
// branch on the element width declares `static constexpr Coverage coverage = Coverage::widths;`, and so does every rung
// that the ladder's choose.h may name.
enum class Coverage : std::uint8_t { kinds, widths };

// The memory that holds a rung's arrays: its platform's, or the host's. Pinned pages are page-locked, so that a device
// can copy to and from them directly.
enum class MemoryKind : std::uint8_t { device, pageable, pinned };

// ---- given by a call ------------------------------------------------------------------------------------------------

// A queue of device work: a cudaStream_t on CUDA (null: the default stream). The CPU runs synchronously and ignores it.
struct Stream {
  void* handle = nullptr;
  // On a dry stream, launches and copies are no-ops, and a CPU rung returns once it has taken its scratch. With a
  // measuring workspace, a dry call thus records how much scratch it needs.
  bool dry = false;
};

// One launch parameter; 0: the rung's default. Records whether a rung has read it, because a benchmark reports only the
// parameters that had an effect.
template <class T>
class Knob {
 public:
  constexpr Knob(T value = 0) : value_(value) {}
  constexpr operator T() const {
    read_ = true;
    return value_;
  }
  constexpr T value_or(T own) const { return *this ? T(*this) : own; }
  // Returns the value without marking it as read, for passing it on or printing it.
  constexpr T peek() const { return value_; }
  constexpr bool was_read() const { return read_; }

 private:
  T value_;
  mutable bool read_ = false;
};

// Launch parameters: they change how a rung runs, never what it returns, except for the last bits of float sums.
struct Tuning {
  Knob<unsigned> block{};     // threads per block of a GPU rung
  Knob<unsigned> grid{};      // blocks per launch
  Knob<unsigned> threads{};   // of a CPU rung; 0: all cores
  Knob<unsigned> streams{};   // of rungs that copy from host memory
  Knob<std::size_t> chunk{};  // elements per copy on each of these streams

  constexpr unsigned block_or(std::size_t own) const { return block.value_or(static_cast<unsigned>(own)); }
  constexpr unsigned grid_or(std::size_t own) const { return grid.value_or(static_cast<unsigned>(own)); }
  friend constexpr bool operator==(const Tuning& a, const Tuning& b) {
    return a.block.peek() == b.block.peek() && a.grid.peek() == b.grid.peek() && a.threads.peek() == b.threads.peek() &&
           a.streams.peek() == b.streams.peek() && a.chunk.peek() == b.chunk.peek();
  }
};

// The launch parameters, memory and stream of a call. The base of each ladder's Args, which adds arrays and scalars in
// their C++ types.
struct Execution {
  const Tuning& tuning;
  Workspace* workspace;
  Stream stream;
};

}  // namespace upsweep

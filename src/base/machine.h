// The hardware as launchers and the choice of a rung see it, and the needs of a rung.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "base/features.h"

namespace upsweep {

// The features and the shared memory that a rung cannot do without.
struct Needs {
  std::uint8_t features = 0;     // a bit per Feature
  std::size_t shared_bytes = 0;  // of one block, static and dynamic

  constexpr Needs() = default;
  constexpr Needs(std::initializer_list<Feature> all, std::size_t shared = 0) : shared_bytes(shared) {
    for (const Feature f : all) features |= bit(f);
  }
  constexpr bool includes(Feature f) const { return features & bit(f); }

 private:
  static constexpr std::uint8_t bit(Feature f) { return static_cast<std::uint8_t>(1u << static_cast<unsigned>(f)); }
};

struct Machine {
  std::string_view name;  // "h200"; of a GPU that is there, what its driver says
  // Times ten; 0: a CPU. That of the device, and the newest one up to it that the kernels are compiled for: code for an
  // older architecture has none of a newer device's features.
  int capability = 0, code = 0;
  int multiprocessors = 0;            // of a CPU, cores
  int threads_per_multiprocessor = 0;  // most resident
  std::size_t shared_per_block = 0, shared_per_multiprocessor = 0;  // most, bytes; a block's after opting in
  std::size_t l2_bytes = 0;

  constexpr bool is_gpu() const { return capability > 0; }
  constexpr bool has(Feature f) const { return code >= first_capability(f); }
  constexpr bool meets(const Needs& needs) const {
    for (const Feature f : all_features)
      if (needs.includes(f) && !has(f)) return false;
    return needs.shared_bytes <= shared_per_block;
  }
  // The same machine, but with the features and limits of an older one. Throws Error(invalid_argument) if there never
  // was a GPU of this capability.
  Machine as(int older) const;
};

// The machine as it is to be seen: UPSWEEP_CAPABILITY=8.0 in the environment makes every GPU count as an older one, to
// find out, or to time, what those run. Throws Error(invalid_argument) if it is no compute capability of a GPU.
Machine as_environment_says(const Machine& machine);

// The current device: of the library that this is linked into, the CUDA backend or an emulator.
const Machine& machine();

// The GPUs that an emulator can stand for, the oldest first.
std::span<const Machine> emulated_machines();
// Throws Error(invalid_argument) if there is none of this name.
const Machine& emulated_machine(std::string_view name);

// "bulk copies and 192 KiB of shared memory per block"; "nothing special" if a rung runs everywhere.
std::string to_string(const Needs& needs);
// "t4 (compute capability 7.5, 64 KiB of shared memory per block)"
std::string to_string(const Machine& machine);

}  // namespace upsweep

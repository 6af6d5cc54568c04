// The hardware properties that launchers and choosers use, and the needs of a rung.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "base/features.h"

namespace upsweep {

// The features and the shared memory that a rung requires.
struct Needs {
  std::uint8_t features = 0;     // a bit per Feature
  std::size_t shared_bytes = 0;  // per block, static and dynamic

  constexpr Needs() = default;
  constexpr Needs(std::initializer_list<Feature> all, std::size_t shared = 0) : shared_bytes(shared) {
    for (const Feature f : all) features |= bit(f);
  }
  constexpr bool includes(Feature f) const { return features & bit(f); }

 private:
  static constexpr std::uint8_t bit(Feature f) { return static_cast<std::uint8_t>(1u << static_cast<unsigned>(f)); }
};

// Returns the maximum number of resident threads per multiprocessor. `capability`: the compute capability, times ten.
constexpr int most_resident_threads(int capability) {
  if (capability == 75) return 1024;
  return (capability > 80 && capability < 90) || capability >= 110 ? 1536 : 2048;
}

struct Machine {
  std::string_view name;  // "h200"; for a real GPU, the name that its driver reports
  // Compute capabilities, times ten; 0 for a CPU. `capability`: the device's. `code`: the newest, up to the device's,
  // for which the kernels are compiled; code for an older architecture cannot use a newer device's features.
  int capability = 0, code = 0;
  int multiprocessors = 0;             // for a CPU, cores
  int threads_per_multiprocessor = 0;  // maximum resident
  std::size_t shared_per_block = 0, shared_per_multiprocessor = 0;  // maximum, in bytes; per block after opting in
  std::size_t l2_bytes = 0;

  // Returns the resident threads per multiprocessor of a kernel whose launch bounds ask for as many as possible: the
  // device's maximum, or fewer if the kernels are compiled for an architecture with fewer.
  constexpr int bounded_threads() const {
    const int most = most_resident_threads(code);
    return threads_per_multiprocessor < most ? threads_per_multiprocessor : most;
  }
  constexpr bool is_gpu() const { return capability > 0; }
  constexpr bool has(Feature f) const { return code >= first_capability(f); }
  constexpr bool meets(const Needs& needs) const {
    for (const Feature f : all_features)
      if (needs.includes(f) && !has(f)) return false;
    return needs.shared_bytes <= shared_per_block;
  }
  // Returns this machine with the features and limits of the capability `older`. Throws Error(invalid_argument) for an
  // unknown capability.
  Machine as(int older) const;
};

// Returns `machine` as limited by the environment variable UPSWEEP_CAPABILITY: with 8.0, every GPU counts as a GPU of
// that capability, to see or time the rungs that such a GPU would run. Throws Error(invalid_argument) for an unknown
// capability.
Machine as_environment_says(const Machine& machine);

// Returns the current device of the library that this function is linked into: the CUDA backend or an emulator.
const Machine& machine();

// Returns the GPUs that the emulators can emulate, oldest first.
std::span<const Machine> emulated_machines();
// Returns the emulated GPU of this name. Throws Error(invalid_argument) if there is none.
const Machine& emulated_machine(std::string_view name);

// Returns a description such as "bulk copies and 192 KiB of shared memory per block"; "nothing special" if a rung runs
// everywhere.
std::string to_string(const Needs& needs);
// Returns a description such as "t4 (compute capability 7.5, 64 KiB of shared memory per block)".
std::string to_string(const Machine& machine);

}  // namespace upsweep

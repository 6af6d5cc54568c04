// Checks whether a rung is right: every size that has ever broken a kernel, every type, operator and input, misaligned
// arrays, poisoned outputs between guard zones, the same scratch twice, several launch shapes.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/platform.h"
#include "lab/primitive.h"
#include "simt/report.h"

namespace upsweep::lab {

// The part of the product size x type x operator x input x shape that is run.
struct Depth {
  std::size_t every_combination_to;  // sizes up to this run every type x operator x input
  std::size_t combinations;          // larger sizes run this many of them, different ones at each size
  std::size_t largest;               // elements; cases with a longer array are skipped
  // Every problem runs in one of the sweep's shapes; one in this many also runs in the rung's own, which for a kernel
  // is a grid for a whole GPU.
  std::size_t own_shape_every;
  // A larger size runs fewer combinations where they would have more elements than this together, but at least one.
  std::size_t elements_of_size = ~std::size_t{0};
  // Beside the fixed sizes, so many are drawn at random, and this many combinations run at each.
  std::size_t random_sizes = 0, random_combinations = 1;
};
// A CPU or GPU checks about 100'000 cases per second.
inline constexpr Depth full_depth{.every_combination_to = 2048,
                                  .combinations = 24,
                                  .largest = std::size_t{1} << 30,
                                  .own_shape_every = 1,
                                  .random_sizes = 64,
                                  .random_combinations = 24};
// An emulated launch of a few blocks takes a fraction of a millisecond, one of a thousand blocks 10 to 100 ms.
inline constexpr Depth emulated_depth{.every_combination_to = 0,
                                      .combinations = 24,
                                      .largest = 110'000,
                                      .own_shape_every = 64,
                                      .random_sizes = 16,
                                      .random_combinations = 2};
// The traced emulator is about ten times slower again.
inline constexpr Depth traced_depth{.every_combination_to = 0,
                                    .combinations = 4,
                                    .largest = 10'007,
                                    .own_shape_every = 64,
                                    .random_sizes = 8};

struct CheckOptions {
  Depth depth = full_depth;
  // Empty: everything that the primitive supports.
  std::vector<Type> types;
  std::vector<Operation> operations;
  std::vector<std::string> inputs;
  std::vector<std::size_t> sizes;
  std::optional<Settings> settings{};  // in place of the primitive's variants
  Tuning tuning{};                     // in place of the sweep's launch shapes, unless it is Tuning{}
  std::uint64_t seed = 1;              // of the random sizes
  std::size_t most_failures = 5;       // per rung: enough to see the pattern; the rung is then abandoned
  // Called before each problem.
  std::function<void(std::size_t done, std::size_t total)> progress;
};

struct RungCheck {
  const Rung* rung = nullptr;
  std::string platform{};               // platform_name()
  std::size_t runs = 0;                 // calls made
  std::vector<std::string> failures{};  // one line each: rung, case, what differs
  bool narrowed = false;                // to some cases, which need not show every deliberate bug
  // True if something ran and no run failed; a deliberate bug passes if it was caught.
  bool passed() const { return runs > 0 && (rung->expected_wrong ? narrowed || caught() : failures.empty()); }
  bool caught() const { return !failures.empty(); }
};

// Checks rungs of one primitive on one platform. `emulator` is the platform if it is an emulator; the issues that it
// reports then count as failures.
std::vector<RungCheck> check(Platform& platform, simt::Emulator* emulator, const Primitive& primitive,
                             const std::vector<const Rung*>& rungs, const CheckOptions& options);

// Returns the sizes of a check: the lab's own and those around the primitive's tiles, ascending, none above
// depth.largest.
std::vector<std::size_t> check_sizes(const Primitive& primitive, const Depth& depth);

// Returns the sizes that a check draws at random, ascending: depth.random_sizes, spread over the magnitudes up to 2^17,
// where kernels change from one way of working to another, and to depth.largest.
std::vector<std::size_t> random_sizes(const Primitive& primitive, const Depth& depth, std::uint64_t seed);

// Draws cases for processes of their own, where no call before has prepared anything: rung, type, operation,
// parameters, input and size. None for rungs that take nothing.
struct DrawnCase {
  const Rung* rung;
  Case c;
};
std::vector<DrawnCase> draw_cases(const Primitive& primitive, const std::vector<const Rung*>& rungs,
                                  const CheckOptions& options, std::size_t count);

// "cpu", "cuda", "simt", "simt traced".
std::string platform_name(const Platform& platform, const simt::Emulator* emulator);

// "f32 sum n=1025 input=uniform block=64", as in messages.
std::string describe(const Case& c);

}  // namespace upsweep::lab

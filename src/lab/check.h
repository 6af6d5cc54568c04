// Checks a rung's results: every size that has ever broken a kernel, every type, operator and input, misaligned arrays,
// poisoned outputs between guard zones, scratch reuse, several launch shapes.
#pragma once
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/platform.h"
#include "lab/primitive.h"
#include "simt/report.h"

namespace upsweep::lab {

// Selects the part of size x type x operator x input x shape that runs.
struct Depth {
  std::size_t every_combination_to;  // sizes up to this run every type x operator x input
  std::size_t combinations;          // larger sizes run this many, a different selection at each size
  std::size_t largest;               // elements; cases with a longer array are skipped
  // Every problem runs in one of the sweep's shapes. One problem in this many also runs in the rung's default shape,
  // which for a kernel is a grid that fills a whole GPU.
  std::size_t own_shape_every;
  // Large sizes run fewer combinations (at least one), so that their elements together do not exceed this.
  std::size_t elements_of_size = ~std::size_t{0};
  // The number of random sizes in addition to the fixed ones, and of combinations at each.
  std::size_t random_sizes = 0, random_combinations = 1;
};
// A CPU or GPU checks about 100,000 cases per second.
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
// The traced emulator is about ten times slower than the plain one.
inline constexpr Depth traced_depth{
    .every_combination_to = 0, .combinations = 4, .largest = 10'007, .own_shape_every = 64, .random_sizes = 8};

// The values that all thresholds have in a check (base/threshold.h): those in force for users, or small ones, so that
// few elements reach the code on both sides.
enum class Thresholds : std::uint8_t { usual, few };
constexpr std::string_view to_string(Thresholds t) { return t == Thresholds::few ? "few" : "usual"; }
constexpr Thresholds default_thresholds(const simt::Emulator* emulator) {
  return emulator ? Thresholds::few : Thresholds::usual;
}

struct CheckOptions {
  Depth depth = full_depth;
  // Defaults to `few` on an emulator, whose inputs are short, and to `usual` elsewhere.
  std::optional<Thresholds> thresholds{};
  // Empty: every value that the primitive supports.
  std::vector<Type> types;
  std::vector<Operation> operations;
  std::vector<std::string> inputs;
  std::vector<std::size_t> sizes;
  std::optional<Settings> settings{};  // replaces the primitive's variants
  Tuning tuning{};                     // replaces the sweep's launch shapes unless equal to Tuning{}
  std::uint64_t seed = 1;              // seed of the random sizes
  std::size_t most_failures = 5;       // per rung: enough to see the pattern; then the rung is abandoned
  // Called before each problem.
  std::function<void(std::size_t done, std::size_t total)> progress;
};

struct RungCheck {
  const Rung* rung = nullptr;
  std::string platform{};  // platform_name()
  Thresholds thresholds = Thresholds::usual;
  std::size_t runs = 0;                 // calls made
  std::vector<std::string> failures{};  // one line each: rung, case, what differs
  bool narrowed = false;                // restricted to some cases, which a mutant may pass
  // True if something ran and no run failed. A mutant passes if it was caught.
  bool passed() const { return runs > 0 && (rung->expected_wrong ? narrowed || caught() : failures.empty()); }
  bool caught() const { return !failures.empty(); }
};

// Checks rungs of one primitive on one platform. `emulator` is non-null if the platform is an emulator; the issues that
// it reports then count as failures.
std::vector<RungCheck> check(Platform& platform, simt::Emulator* emulator, const Primitive& primitive,
                             const std::vector<const Rung*>& rungs, const CheckOptions& options);

// Returns the fixed sizes of a check, the laboratory's and those around the primitive's tiles, in ascending order and
// up to depth.largest.
std::vector<std::size_t> check_sizes(const Primitive& primitive, const Depth& depth);

// Sizes for an emulator's check with the usual thresholds: `choose` returns several rungs of most ladders for them, and
// each runs within a second. usual_sizes_of() clamps them to the primitive's largest_checked.
inline constexpr std::array<std::size_t, 4> usual_sizes{1'000, 9'001, 40'003, 100'003};
std::vector<std::size_t> usual_sizes_of(const Primitive& primitive);

// Returns the random sizes of a check in ascending order: depth.random_sizes of them, log-uniform up to depth.largest
// and to 2^17, the range in which kernels switch algorithms.
std::vector<std::size_t> random_sizes(const Primitive& primitive, const Depth& depth, std::uint64_t seed);

// Draws cases (rung, type, operation, parameters, input, size) for fresh processes, where no earlier call has
// initialised anything. Skips rungs that take no case.
struct DrawnCase {
  const Rung* rung;
  Case c;
};
std::vector<DrawnCase> draw_cases(const Primitive& primitive, const std::vector<const Rung*>& rungs,
                                  const CheckOptions& options, std::size_t count);

// "cpu", "cuda", "simt", "simt traced", "cuda with few thresholds".
std::string platform_name(const Platform& platform, const simt::Emulator* emulator,
                          std::optional<Thresholds> thresholds = {});

// "f32 sum n=1025 input=uniform block=64", for messages.
std::string describe(const Case& c);

}  // namespace upsweep::lab

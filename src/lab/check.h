// Checks a rung's results: at every size that has ever broken a kernel, for every type, operator and input, on
// misaligned arrays and in several launch shapes. Outputs are poisoned, arrays lie between guard zones, and scratch is
// reused from call to call.
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

// Selects the combinations of size, type, operator, input and launch shape that are run.
struct Depth {
  std::size_t every_combination_to;  // sizes up to this run every type x operator x input
  std::size_t combinations;          // larger sizes run this many, a different selection at each size
  std::size_t largest;               // elements; cases with a longer array are skipped
  // Every problem runs in one of the sweep's shapes. One problem in this many also runs in the rung's default shape,
  // which for a kernel is a grid that fills a whole GPU.
  std::size_t own_shape_every;
  // Maximum number of elements over all combinations at one size: a large size runs fewer combinations, but at least
  // one.
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

// The values of all thresholds (base/threshold.h) during a check. `usual`: those in force for users. `few`: small ones,
// with which a few elements reach the code on both sides of every threshold.
enum class Thresholds : std::uint8_t { usual, few };
constexpr std::string_view to_string(Thresholds t) { return t == Thresholds::few ? "few" : "usual"; }
constexpr Thresholds default_thresholds(const simt::Emulator* emulator) {
  return emulator ? Thresholds::few : Thresholds::usual;
}

struct CheckOptions {
  Depth depth = full_depth;
  // Defaults to `few` on an emulator, whose inputs are short, and to `usual` elsewhere.
  std::optional<Thresholds> thresholds{};
  // An empty list selects everything that the primitive supports; for `sizes`, the fixed and the random ones.
  std::vector<Type> types;
  std::vector<Operation> operations;
  std::vector<std::string> inputs;
  std::vector<std::size_t> sizes;
  std::optional<Settings> settings{};  // replaces the primitive's variants
  Tuning tuning{};                     // replaces the sweep's launch shapes unless equal to Tuning{}
  std::uint64_t seed = 1;              // seed of the random sizes
  std::size_t most_failures = 5;       // per rung, which is then abandoned: enough to see the pattern
  // Called before each problem and at the end.
  std::function<void(std::size_t done, std::size_t total)> progress;
};

struct RungCheck {
  const Rung* rung = nullptr;
  std::string platform{};  // platform_name()
  Thresholds thresholds = Thresholds::usual;
  std::size_t runs = 0;                 // calls made
  std::vector<std::string> failures{};  // one line each: rung, case, what differs
  bool narrowed = false;                // only some cases were checked, and a mutant may pass these
  // True if the rung ran and no run failed. A mutant passes if it was caught, or if the check was narrowed.
  bool passed() const { return runs > 0 && (rung->expected_wrong ? narrowed || caught() : failures.empty()); }
  bool caught() const { return !failures.empty(); }
};

// Checks rungs of one primitive on one platform. `emulator` is non-null if the platform is an emulator; the issues that
// it reports then count as failures.
std::vector<RungCheck> check(Platform& platform, simt::Emulator* emulator, const Primitive& primitive,
                             const std::vector<const Rung*>& rungs, const CheckOptions& options);

// Returns the fixed sizes of a check in ascending order: the laboratory's and those around the primitive's tile sizes,
// up to depth.largest and to primitive.largest_checked.
std::vector<std::size_t> check_sizes(const Primitive& primitive, const Depth& depth);

// Sizes for an emulator's check with the usual thresholds. At these sizes, choose() picks several rungs of most
// ladders, and each run takes less than a second. usual_sizes_of() clamps them to primitive.largest_checked.
inline constexpr std::array<std::size_t, 4> usual_sizes{1'000, 9'001, 40'003, 100'003};
std::vector<std::size_t> usual_sizes_of(const Primitive& primitive);

// Returns depth.random_sizes random sizes in ascending order, log-uniform up to 2^17, the range in which kernels switch
// algorithms, and at most depth.largest and primitive.largest_checked.
std::vector<std::size_t> random_sizes(const Primitive& primitive, const Depth& depth, std::uint64_t seed);

// A random case, and the rung that runs it.
struct DrawnCase {
  const Rung* rung;
  Case c;
};
// Draws up to `count` cases to run in fresh processes, where no earlier call has initialised anything. Omits draws that
// the rung does not take or that cannot exist.
std::vector<DrawnCase> draw_cases(const Primitive& primitive, const std::vector<const Rung*>& rungs,
                                  const CheckOptions& options, std::size_t count);

// Names a platform for messages: "cpu", "cuda", "simt", "simt traced", "cuda with few thresholds".
std::string platform_name(const Platform& platform, const simt::Emulator* emulator,
                          std::optional<Thresholds> thresholds = {});

// Describes a case for messages: "f32 sum n=1025 input=uniform block=64".
std::string describe(const Case& c);

}  // namespace upsweep::lab

// Times rungs and peers on one case, interleaved in one process, by default on data that is not in the cache, and
// measures the machine's ceiling with them.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/platform.h"
#include "base/workspace.h"
#include "lab/clock.h"
#include "lab/primitive.h"
#include "lab/statistics.h"

namespace upsweep::lab {

// Returns the bandwidth in 1e9 bytes per second for `bytes` moved in `us` microseconds.
constexpr double gigabytes_per_second(std::size_t bytes, double us) { return static_cast<double>(bytes) / us / 1e3; }

// The surroundings of a timed call. A launch that overlaps its neighbours is faster in back_to_back and may be slower
// in the others, so "no slower" means no slower in all four.
enum class Situation : std::uint8_t {
  back_to_back,  // consecutive calls, each on another copy of the arrays; the copies exceed the last-level cache
  alone,         // single calls, with the queue empty before and after; copies as above
  warm,          // consecutive calls on the same arrays, which stay in the cache if they fit
  mixed,         // each call between two unrelated kernels, whose time is subtracted; copies as above
};
inline constexpr std::array<std::string_view, 4> situation_names{"back_to_back", "alone", "warm", "mixed"};
constexpr std::string_view to_string(Situation s) { return situation_names[static_cast<std::size_t>(s)]; }
constexpr std::optional<Situation> parse_situation(std::string_view name) {
  for (std::size_t i = 0; i < situation_names.size(); ++i)
    if (situation_names[i] == name) return static_cast<Situation>(i);
  return std::nullopt;
}
constexpr bool is_cold(Situation s) { return s != Situation::warm; }

struct TimeOptions {
  int samples = 20;  // per contestant: half for A and half for A', which give the A/A spread
  Situation situation = Situation::back_to_back;
  bool check = true;  // verify each contestant on the case before timing it
  // Maximum time of a contestant's samples together: a slow contestant gets fewer samples, but at least four.
  double budget_us = 2e6;
  // Minimum time of a contestant's samples together: a fast contestant gets more samples.
  double least_us = 0;
};

// One contestant's result on one case.
struct Measurement {
  const Rung* rung = nullptr;
  Traffic traffic;
  bool checked = false;                // verified on this case, and right
  std::optional<std::string> failure;  // the reason for a missing time: "(F)"
  std::optional<std::string> refused;  // why it was not timed: it rejects the launch shape or, if a peer, the case
  Tuning tuning{};                     // the case's tuning values that the rung read
  int samples = 0;
  Timing time;
};

// The machine's limit, measured in this run: the time of the best kernel or loop that only moves the bytes.
struct Ceiling {
  std::string kind;   // a Traffic::ceiling
  std::size_t n = 0;  // elements
  Type type = Type::u32;
  std::size_t bytes = 0;  // moved; 0 for a launch
  Measurement measured;
  double gbs() const { return gigabytes_per_second(bytes, measured.time.us.median); }
};

// Throws Error(out_of_memory) if a case cannot fit in memory. Host memory must hold
//   - the generated input,
//   - on the CPU and on an emulator, the copy for the rung,
//   - for a check, which verifies that the input is unchanged, the copy read back.
// An explicit grid needs memory for one result per block.
enum class Purpose { time, check };
void require_room(const Platform& platform, const Description& description, const Case& c,
                  Purpose purpose = Purpose::time);

class Copies;

// Times cases on one platform. A ceiling is measured on first use, and again with every case that is large enough for a
// close comparison.
class Stopwatch {
 public:
  explicit Stopwatch(Platform& platform) : Stopwatch(platform, make_clock(platform)) {}
  Stopwatch(Platform& platform, std::unique_ptr<Clock> clock);
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch();

  // Returns measurements in the order of the rungs, without those that do not take the case's type and operator. Throws
  // Error(out_of_memory) before allocating anything if the case cannot fit.
  std::vector<Measurement> measure(const Primitive& primitive, const Case& c, const std::vector<const Rung*>& rungs,
                                   const TimeOptions& options);

  // Returns the latest value of a kind of ceiling; null if the platform has no rung for it, or that rung failed.
  const Ceiling* ceiling(std::string_view kind) const;
  // Returns the latest value of every ceiling measured so far.
  std::vector<Ceiling> ceilings() const;

  const Description& description() const { return description_; }

 private:
  struct Lane;
  std::unique_ptr<Lane> make_lane(const Primitive& primitive, const Rung& rung, const Case& c, const Problem& problem,
                                  std::shared_ptr<Copies> copies, const TimeOptions& options);
  Lane* ceiling_lane(std::string_view kind, std::size_t bytes);
  Lane& neighbour_lane();
  void interleave(std::vector<Lane*> lanes, const TimeOptions& options);

  Platform& platform_;
  std::unique_ptr<Clock> clock_;
  Description description_;
  Stream stream_;
  Workspace workspace_;
  std::unique_ptr<Lane> neighbour_;  // created on first use
  std::map<std::string, std::unique_ptr<Lane>, std::less<>> ceiling_lanes_;
  std::map<std::string, Ceiling, std::less<>> ceilings_;
};

}  // namespace upsweep::lab

// How fast? Rungs and peers at one case, interleaved round by round in one process, on data that is not in the cache,
// with the machine's ceiling measured beside them.
#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/platform.h"
#include "base/primitive.h"
#include "lab/statistics.h"

namespace upsweep::lab {

// Gigabytes a second (1e9) of `bytes` in `us`.
constexpr double gigabytes_per_second(std::size_t bytes, double us) { return static_cast<double>(bytes) / us / 1e3; }

struct TimeOptions {
  int samples = 20;   // a contestant: half for A and half for A', which give the A/A spread
  bool cold = true;   // rotate among copies of the input that do not fit the last-level cache; false: one copy, hot
  bool check = true;  // verify each contestant at the case before timing it
  // A contestant that needs longer than this for all its samples gets fewer, but never less than four.
  double budget_us = 2e6;
};

// One contestant at one case.
struct Measurement {
  const Rung* rung = nullptr;
  Traffic traffic;
  bool checked = false;                // verified at this case, and right
  std::optional<std::string> failure;  // why there is no time: "(F)"
  int samples = 0;
  Timing time;
};

// What the machine can do, in this run: the time of the best program that moves the bytes and does nothing else.
struct Ceiling {
  std::string kind;   // as Traffic::ceiling
  std::size_t n = 0;  // elements
  Type type = Type::u32;
  std::size_t bytes = 0;  // moved; 0 for a launch
  Measurement measured;
  double gbs() const { return gigabytes_per_second(bytes, measured.time.us.median); }
};

// Throws Error(out_of_memory) for a case that cannot fit: host memory has to hold the generated input as well as, on
// the CPU, the copy that is timed.
void require_room(const Platform& platform, const Description& description, const Case& c);

class Copies;

// Times cases on one platform. Ceilings are measured once when first asked for, and again beside every case that is
// large enough to be held against them closely.
class Stopwatch {
 public:
  explicit Stopwatch(Platform& platform);
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch();

  // In the order of the rungs; those that do not take the case's type and operator are left out. Throws
  // Error(out_of_memory) before anything is allocated when the case cannot fit.
  std::vector<Measurement> measure(const Primitive& primitive, const Case& c, const std::vector<const Rung*>& rungs,
                                   const TimeOptions& options);

  // The newest value of a kind of ceiling; null where the platform has no rung for it, or that rung failed.
  const Ceiling* ceiling(std::string_view kind) const;
  // Every ceiling measured so far, newest values.
  std::vector<Ceiling> ceilings() const;

  const Description& description() const { return description_; }

 private:
  struct Lane;
  std::unique_ptr<Lane> make_lane(const Rung& rung, const Case& c, const Problem& problem,
                                  std::shared_ptr<Copies> copies, const TimeOptions& options);
  Lane* ceiling_lane(std::string_view kind, std::size_t bytes);
  void interleave(std::vector<Lane*> lanes, const TimeOptions& options);

  Platform& platform_;
  Description description_;
  Stream stream_;
  Workspace workspace_;
  std::map<std::string, std::unique_ptr<Lane>, std::less<>> ceiling_lanes_;
  std::map<std::string, Ceiling, std::less<>> ceilings_;
};

// Bytes that can still be allocated on this host without swapping or being killed: the smaller of what the kernel calls
// available and what the control group leaves.
std::size_t available_host_bytes();

}  // namespace upsweep::lab

// Times a platform's work: with a steady clock on the CPU, with events around CUDA graph replays on a GPU.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "base/platform.h"

namespace upsweep::lab {

class Clock {
 public:
  virtual ~Clock() = default;
  // Takes `samples` samples of `batch` calls each, enqueue(call number), and returns the microseconds per call of each
  // sample. enqueue must do the same work every time, and must neither synchronise nor allocate.
  using Enqueue = std::function<void(int)>;
  virtual std::vector<double> time_us(const Enqueue& enqueue, int samples, int batch, Stream stream) = 0;
  // Like time_us(), for work that cannot be captured in a graph because the host takes part (Rung::synchronises, arrays
  // in host memory). Times the calls themselves, host work included.
  virtual std::vector<double> time_calls_us(const Enqueue& enqueue, int samples, int batch, Stream stream) = 0;
  // Returns the microseconds of each of `samples` single calls, with the stream empty before and after each call.
  virtual std::vector<double> time_alone_us(const Enqueue& enqueue, int samples, Stream stream);
};

// Creates the clock for this platform.
std::unique_ptr<Clock> make_clock(Platform& platform);

}  // namespace upsweep::lab

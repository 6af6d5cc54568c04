// Times a platform's work: with a steady clock on the CPU, with events around replays of a CUDA graph on a GPU.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "base/platform.h"

namespace upsweep::lab {

class Clock {
 public:
  virtual ~Clock() = default;
  // Microseconds per call, for each of `samples` runs of `batch` calls of enqueue(call). enqueue must do the same work
  // every time, and neither synchronise nor allocate.
  using Enqueue = std::function<void(int)>;
  virtual std::vector<double> time_us(const Enqueue& enqueue, int samples, int batch, Stream stream) = 0;
  // The same for work in which the host takes part, so that it cannot be captured in a graph (Rung::synchronises,
  // arrays in host memory): times the calls themselves, the host's part included.
  virtual std::vector<double> time_calls_us(const Enqueue& enqueue, int samples, int batch, Stream stream) = 0;
  // Microseconds of single calls, with an empty queue before and after each.
  virtual std::vector<double> time_alone_us(const Enqueue& enqueue, int samples, Stream stream);
};

// Returns the clock of this platform.
std::unique_ptr<Clock> make_clock(Platform& platform);

}  // namespace upsweep::lab

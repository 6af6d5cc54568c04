#include "lab/clock.h"

#include <chrono>

namespace upsweep::lab {

std::unique_ptr<Clock> make_cuda_clock(Platform& platform);

std::vector<double> Clock::time_alone_us(const Enqueue& enqueue, int samples, Stream stream) {
  std::vector<double> times;
  for (int sample = 0; sample < samples; ++sample) times.push_back(time_calls_us(enqueue, 1, 1, stream).front());
  return times;
}

namespace {

class SteadyClock final : public Clock {
 public:
  // A sample is `batch` calls between two clock readings, because a reading takes about 25 ns and a sum of 2^10
  // elements 30 ns. Call numbers continue from sample to sample, so that a caller can use them to rotate through its
  // buffers.
  std::vector<double> time_us(const Enqueue& enqueue, int samples, int batch, Stream) override {
    using Steady = std::chrono::steady_clock;
    std::vector<double> times(static_cast<std::size_t>(samples));
    int call = 0;
    for (double& time : times) {
      const Steady::time_point begin = Steady::now();
      for (int i = 0; i < batch; ++i) enqueue(call++);
      time = std::chrono::duration<double, std::micro>(Steady::now() - begin).count() / batch;
    }
    return times;
  }
  std::vector<double> time_calls_us(const Enqueue& enqueue, int samples, int batch, Stream stream) override {
    return time_us(enqueue, samples, batch, stream);
  }
};

}  // namespace

std::unique_ptr<Clock> make_clock(Platform& platform) {
  if (platform.backend() == Backend::cuda) return make_cuda_clock(platform);
  return std::make_unique<SteadyClock>();
}

}  // namespace upsweep::lab

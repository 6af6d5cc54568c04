// The GPU clock: CUDA events around graph replays or calls.
#include <cuda_runtime.h>

#include <string>

#include "lab/clock.h"

namespace upsweep::lab {
namespace {

void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw Error(Code::device_error, std::string(what) + ": " + cudaGetErrorString(error));
}

cudaStream_t handle(Stream stream) { return static_cast<cudaStream_t>(stream.handle); }

// The work that `enqueue` puts on a stream, captured as a graph. A replay costs the host one call regardless of the
// graph's size, so that only device time is measured.
struct Replay {
  template <class Enqueue>
  Replay(Stream stream, Enqueue&& enqueue) {
    if (!stream.handle) throw Error(Code::invalid_argument, "the default stream cannot be captured");
    cudaGraph_t captured = nullptr;
    check(cudaStreamBeginCapture(handle(stream), cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    enqueue();
    check(cudaStreamEndCapture(handle(stream), &captured), "cudaStreamEndCapture");
    const cudaError_t instantiated = cudaGraphInstantiate(&graph, captured, 0);
    cudaGraphDestroy(captured);
    check(instantiated, "cudaGraphInstantiate");
  }
  Replay(const Replay&) = delete;
  ~Replay() { cudaGraphExecDestroy(graph); }
  cudaGraphExec_t graph = nullptr;
};

struct Events {
  Events() {
    check(cudaEventCreate(&begin), "cudaEventCreate");
    check(cudaEventCreate(&end), "cudaEventCreate");
  }
  Events(const Events&) = delete;
  ~Events() {
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
  }
  double milliseconds() const {
    float elapsed = 0;
    check(cudaEventElapsedTime(&elapsed, begin, end), "cudaEventElapsedTime");
    return elapsed;
  }
  cudaEvent_t begin = nullptr, end = nullptr;
};

class EventClock final : public Clock {
 public:
  explicit EventClock(Platform& platform) : platform_(platform) {}

  std::vector<double> time_us(const Enqueue& enqueue, int samples, int batch, Stream stream) override {
    platform_.activate();
    const Replay replay(stream, [&] {
      for (int call = 0; call < batch; ++call) enqueue(call);
    });
    check(cudaGraphLaunch(replay.graph, handle(stream)), "timing");  // warm-up: the first replay uploads the graph
    return between_events([&] { check(cudaGraphLaunch(replay.graph, handle(stream)), "timing"); }, samples, batch,
                          stream);
  }
  std::vector<double> time_calls_us(const Enqueue& enqueue, int samples, int batch, Stream stream) override {
    platform_.activate();
    const auto calls = [&] {
      for (int call = 0; call < batch; ++call) enqueue(call);
      check(cudaGetLastError(), "timing");
    };
    return between_events(calls, samples, batch, stream);
  }
  // Both events and the call are nodes of one graph, so the device has all three before it starts the first, and no
  // host launch latency falls between the events.
  std::vector<double> time_alone_us(const Enqueue& enqueue, int samples, Stream stream) override {
    platform_.activate();
    Events events;
    std::vector<double> times;
    for (int sample = 0; sample < samples; ++sample) {
      Replay replay(stream, [&] {
        check(cudaEventRecordWithFlags(events.begin, handle(stream), cudaEventRecordExternal), "cudaEventRecord");
        enqueue(sample);
        check(cudaEventRecordWithFlags(events.end, handle(stream), cudaEventRecordExternal), "cudaEventRecord");
      });
      check(cudaGraphUpload(replay.graph, handle(stream)), "cudaGraphUpload");
      check(cudaStreamSynchronize(handle(stream)), "timing");
      check(cudaGraphLaunch(replay.graph, handle(stream)), "timing");
      check(cudaStreamSynchronize(handle(stream)), "timing");
      times.push_back(1e3 * events.milliseconds());
    }
    return times;
  }

 private:
  // Returns the microseconds per call of each of `samples` runs of work(), which makes `batch` calls.
  template <class Work>
  static std::vector<double> between_events(Work&& work, int samples, int batch, Stream stream) {
    const Events events;
    std::vector<double> times;
    for (int sample = 0; sample < samples; ++sample) {
      check(cudaEventRecord(events.begin, handle(stream)), "cudaEventRecord");
      work();
      check(cudaEventRecord(events.end, handle(stream)), "cudaEventRecord");
      check(cudaEventSynchronize(events.end), "timing");
      times.push_back(1e3 * events.milliseconds() / batch);
    }
    return times;
  }
  Platform& platform_;
};

}  // namespace

std::unique_ptr<Clock> make_cuda_clock(Platform& platform) { return std::make_unique<EventClock>(platform); }

}  // namespace upsweep::lab

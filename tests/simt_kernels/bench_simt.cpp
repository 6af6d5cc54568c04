// Measures the emulators on one core, in thread-steps per second. A thread-step is one CUDA thread from one barrier or
// warp collective to the next, or to the thread's end. Prints one JSON line per measurement.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "launcher.h"

namespace upsweep::test {
namespace {

constexpr std::size_t n = std::size_t{1} << 20, block = 256;  // elements; threads per block
constexpr int samples = 11;

struct Case {
  const char* kernel;
  double steps;  // thread-steps per block
};
// copy: no barriers. reduce: one barrier before the tree and one in each of its eight levels. scan: five shuffles in
// every warp, two barriers, and five more shuffles in one warp.
constexpr Case cases[] = {{"copy_float2", 1. * block},
                          {"reduce_sequential", (1. + 9) * block},
                          {"shuffle_scan", (1. + 5 + 2) * block + 5 * 32}};

double median_seconds(simt::Emulator& emulator, const Case& c) {
  Array<float> in(emulator, 2 * n), out(emulator, 2 * n);
  in.set([](std::size_t i) { return i % 7; });
  std::vector<double> seconds;
  for (int sample = 0; sample <= samples; ++sample) {  // the first is a warm-up
    const auto begin = std::chrono::steady_clock::now();
    if (!launch(emulator, c.kernel, {{in.data()}, {out.data()}, n, {.grid = n / block, .block = block}})) std::exit(1);
    if (sample) seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    emulator.take_report();
  }
  std::nth_element(seconds.begin(), seconds.begin() + samples / 2, seconds.end());
  return seconds[samples / 2];
}

void bench() {
  for (simt::Emulator* emulator : {&test_plain_emulator(), &test_traced_emulator()}) {
    emulator->configure({.threads = 1});
    for (const Case& c : cases) {
      const double seconds = median_seconds(*emulator, c), steps = c.steps * double(n / block);
      std::printf(
          "{\"emulator\": \"%s\", \"kernel\": \"%s\", \"threads\": %zu, \"thread_steps\": %.0f, \"median_us\": %.0f, "
          "\"thread_steps_per_second\": %.3g}\n",
          emulator->instrumented() ? "traced" : "plain", c.kernel, n, steps, seconds * 1e6, steps / seconds);
    }
  }
}

}  // namespace
}  // namespace upsweep::test

int main() { upsweep::test::bench(); }

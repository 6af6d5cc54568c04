#include "ladders/render/lab/animation.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "cpu/parallel.h"
#include "upsweep/error.h"

namespace upsweep::ladders::render {
namespace {

const Scene& at_rest(const Scene& scene) {
  if (scene.motion == Motion::none)
    throw Error(Code::invalid_argument, "the scene '" + std::string(scene.name) + "' stands still",
                "snow, snowsingle, bouncingballs, hypnosis and fireworks move");
  return scene.rests ? find_scene(scene.rests) : scene;
}

Step first_step(const Scene& scene, std::size_t circles, std::uint64_t seed) {
  Step step{.motion = scene.motion, .seed = seed, .circles = circles};
  for (std::size_t spark = 0; spark < Step::sparks; ++spark) {
    const float angle = float(spark) * (2 * std::numbers::pi_v<float> / Step::sparks);
    step.direction_x[spark] = std::sin(angle);
    step.direction_y[spark] = std::cos(angle);
  }
  return step;
}

std::vector<Circle> first_circles(const Scene& scene, std::size_t n, std::uint64_t seed, std::optional<float> alpha) {
  std::vector<Circle> circles = draw_scene(scene, n, seed);
  if (alpha)
    for (Circle& c : circles) c.alpha = *alpha;
  return circles;
}

std::vector<Speed> first_speeds(const Scene& scene, std::size_t n, std::uint64_t seed) {
  std::vector<Speed> speeds(n);
  if (scene.motion != Motion::bounce) return speeds;
  CourseRandom u(seed);
  for (Speed& speed : speeds) {
    speed.y = u();
    u(), u();  // skips the ball's position
  }
  return speeds;
}

}  // namespace

template <class T>
std::unique_ptr<T, Animation::Release> Animation::place(const std::vector<T>& values) {
  const std::size_t bytes = values.size() * sizeof(T);
  std::unique_ptr<T, Release> memory(static_cast<T*>(platform_.allocate(bytes)), Release{&platform_});
  platform_.copy_in(memory.get(), values.data(), bytes, stream_);
  platform_.synchronize(stream_);  // before the caller frees `values`
  return memory;
}

Animation::Animation(Platform& platform, Stream stream, const Scene& scene, std::size_t circles, std::uint64_t seed,
                     std::optional<float> alpha)
    : platform_(platform),
      stream_(stream),
      step_(first_step(scene, circles, seed)),
      circles_(place(first_circles(at_rest(scene), circles, seed, alpha))),
      speeds_(place(first_speeds(scene, circles, seed))) {
  while (step_.frame < scene.begins) step();
}

void Animation::step() {
  Circle* const circles = circles_.get();
  Speed* const speeds = speeds_.get();
  if (platform_.backend() == Backend::cuda) {
    if (const Status moved = move_on_cuda(step_, circles, speeds, stream_); !moved)
      throw Error(moved.code, "the circles were not moved: " + std::string(moved.message ? moved.message : ""));
  } else {  // memory of the CPU or an emulated GPU is host memory
    constexpr std::size_t at_once = 8192;
    parallel(static_cast<int>((step_.circles + at_once - 1) / at_once), 0, [&](int part) {
      const std::size_t begin = std::size_t(part) * at_once, end = std::min(begin + at_once, step_.circles);
      for (std::size_t k = begin; k < end; ++k) step_(k, circles, speeds);
    });
  }
  ++step_.frame;
}

std::vector<Circle> Animation::on_host() const {
  std::vector<Circle> all(step_.circles);
  platform_.copy_out(all.data(), circles_.get(), all.size() * sizeof(Circle), stream_);
  platform_.synchronize(stream_);
  return all;
}

}  // namespace upsweep::ladders::render

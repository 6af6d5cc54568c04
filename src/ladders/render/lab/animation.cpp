#include "ladders/render/lab/animation.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "cpu/parallel.h"
#include "lab/rng.h"
#include "upsweep/error.h"

namespace upsweep::ladders::render {
namespace {

constexpr float time_step = 1.f / Animation::frames_per_second;

// Gravity, drag and a pseudo-random flutter, all weaker for far flakes. A flake that has left the picture at the left,
// right or lower edge starts again above it.
void fall_once(Circle& c, Animation::Speed& speed, const Random& random, std::uint64_t draw) {
  const Random::Pair words = random.pair(draw);
  const auto noise = [](std::uint64_t word) { return float(std::int64_t(word)) * 0x1p-63f; };  // in [-1, 1]
  const float scale = std::clamp(1 - c.z, .1f, 1.f);
  speed.x += time_step * scale * (7.5f * noise(words.even) - 2 * speed.x);
  speed.y += time_step * scale * (-1.8f + 5 * noise(words.odd) - 2 * speed.y);
  c.x += time_step * speed.x;
  c.y += time_step * speed.y;
  if (c.x + c.radius >= 0 && c.x - c.radius <= 1 && c.y + c.radius >= 0) return;
  c.x = float(words.even >> 40) * 0x1p-24f;
  c.y = 1 + c.radius + float(words.odd >> 40) * 0x1p-24f;
  speed = {};
}

}  // namespace

Animation::Animation(const Scene& scene, std::size_t circles, std::uint64_t seed) : scene_(scene), seed_(seed) {
  if (scene.motion == Motion::none)
    throw Error(Code::invalid_argument, "the scene '" + std::string(scene.name) + "' stands still",
                "snow, snowsingle, bouncingballs, hypnosis and fireworks move");
  circles_ = draw_scene(scene.rests ? find_scene(scene.rests) : scene, circles, seed);
  speeds_.resize(circles);
  if (scene.motion == Motion::bounce) {
    CourseRandom u(seed);
    for (Speed& speed : speeds_) {
      speed.y = u();
      u(), u();  // the ball's place
    }
  }
  for (std::uint64_t frame = 0; frame < scene.begins; ++frame) step();
}

void Animation::step() {
  switch (scene_.motion) {
    case Motion::none:
      break;
    case Motion::fall:
      fall();
      break;
    case Motion::bounce:
      bounce();
      break;
    case Motion::grow:
      grow();
      break;
    case Motion::burst:
      burst();
      break;
  }
  ++frame_;
}

void Animation::fall() {
  const Random random(seed_);
  constexpr std::size_t at_once = 8192;
  parallel(static_cast<int>((circles_.size() + at_once - 1) / at_once), 0, [&](int part) {
    const std::size_t begin = std::size_t(part) * at_once, end = std::min(begin + at_once, circles_.size());
    for (std::size_t k = begin; k < end; ++k) fall_once(circles_[k], speeds_[k], random, frame_ * circles_.size() + k);
  });
}

// Gravity; a bounce keeps 0.8 of the speed. A ball that is slower than a step's gravity rests.
void Animation::bounce() {
  constexpr float gravity = -2.8f;
  for (std::size_t k = 0; k < circles_.size(); ++k) {
    float &y = circles_[k].y, &speed = speeds_[k].y;
    if (y == 0 && speed == 0) continue;
    speed += gravity * time_step;
    y += speed * time_step;
    if (y >= 0) continue;
    y = 0;
    speed *= -.8f;
    if (speed < -gravity * time_step) speed = 0;
  }
}

void Animation::grow() {
  for (Circle& c : circles_) {
    c.radius += .01f;
    if (c.radius > .5f) c.radius = .02f;
  }
}

// Sparks move outwards at 1/5 a second; past 1/4 from the centre they start again at its rim.
void Animation::burst() {
  constexpr std::size_t centres = 15, sparks = 20;
  for (std::size_t k = centres; k < std::min(circles_.size(), centres * (1 + sparks)); ++k) {
    const Circle& centre = circles_[(k - centres) / sparks];
    Circle& spark = circles_[k];
    const float angle = float((k - centres) % sparks) * (2 * std::numbers::pi_v<float> / sparks);
    float distance = std::hypot(spark.x - centre.x, spark.y - centre.y) + .2f * time_step;
    if (distance > .25f) distance = centre.radius;
    spark.x = centre.x + distance * std::sin(angle);
    spark.y = centre.y + distance * std::cos(angle);
  }
}

}  // namespace upsweep::ladders::render

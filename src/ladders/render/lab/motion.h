// One step of one circle of an animated scene, with the same bits on host and device. Products, sums and square roots
// are rounded separately, so translation units that include this header must be compiled without contraction into fused
// multiply-adds.
#pragma once
#include <cmath>
#include <cstdint>

#include "lab/rng.h"
#include "ladders/render/contract.h"

namespace upsweep::ladders::render {

enum class Motion : std::uint8_t { none, fall, bounce, grow, burst };

struct Speed {
  float x = 0, y = 0;
};

// A step of 1/60 second, passed to kernels by value.
struct Step {
  static constexpr unsigned per_second = 60;
  static constexpr float time = 1.f / per_second;
  // Fireworks: the circles are the stationary centres, then the sparks of each centre in turn.
  static constexpr std::size_t centres = 15, sparks = 20;

  Motion motion = Motion::none;
  std::uint64_t seed = 0, frame = 0;
  std::size_t circles = 0;
  float direction_x[sparks] = {}, direction_y[sparks] = {};  // of the sparks

  // Moves circle k.
  UPSWEEP_HD void operator()(std::size_t k, Circle* all, Speed* speeds) const {
    switch (motion) {
      case Motion::none:
        return;
      case Motion::fall:
        return fall(all[k], speeds[k], Random(seed).pair(frame * circles + k));
      case Motion::bounce:
        return bounce(all[k].y, speeds[k].y);
      case Motion::grow:
        return grow(all[k].radius);
      case Motion::burst:
        if (k >= centres && k < centres * (1 + sparks))
          burst(all[k], all[(k - centres) / sparks], (k - centres) % sparks);
    }
  }

 private:
  // Gravity, drag and a pseudo-random flutter, all weaker for distant flakes. A flake that has left the picture at the
  // left, right or lower edge starts again above it.
  UPSWEEP_HD static void fall(Circle& c, Speed& speed, Random::Pair words) {
    const auto noise = [](std::uint64_t word) { return float(std::int64_t(word)) * 0x1p-63f; };  // in [-1, 1]
    const float nearness = 1 - c.z, scale = nearness < .1f ? .1f : nearness > 1 ? 1 : nearness;
    speed.x += time * scale * (7.5f * noise(words.even) - 2 * speed.x);
    speed.y += time * scale * (-1.8f + 5 * noise(words.odd) - 2 * speed.y);
    c.x += time * speed.x;
    c.y += time * speed.y;
    if (c.x + c.radius >= 0 && c.x - c.radius <= 1 && c.y + c.radius >= 0) return;
    c.x = float(words.even >> 40) * 0x1p-24f;
    c.y = 1 + c.radius + float(words.odd >> 40) * 0x1p-24f;
    speed = {};
  }
  // Gravity; a bounce keeps 0.8 of the speed. A ball slower than one step of gravity comes to rest.
  UPSWEEP_HD static void bounce(float& y, float& speed) {
    constexpr float gravity = -2.8f;
    if (y == 0 && speed == 0) return;
    speed += gravity * time;
    y += speed * time;
    if (y >= 0) return;
    y = 0;
    speed *= -.8f;
    if (speed < -gravity * time) speed = 0;
  }
  UPSWEEP_HD static void grow(float& radius) {
    radius += .01f;
    if (radius > .5f) radius = .02f;
  }
  // Moves a spark outwards at 1/5 per second, in scene coordinates. Farther than 1/4 from its centre, the spark starts
  // again at the centre's rim.
  UPSWEEP_HD void burst(Circle& spark, const Circle& centre, std::size_t direction) const {
    const float dx = spark.x - centre.x, dy = spark.y - centre.y;
    float distance = std::sqrt(dx * dx + dy * dy) + .2f * time;
    if (distance > .25f) distance = centre.radius;
    spark.x = centre.x + distance * direction_x[direction];
    spark.y = centre.y + distance * direction_y[direction];
  }
};

}  // namespace upsweep::ladders::render

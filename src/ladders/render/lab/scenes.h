// Named scenes, whose circles are the same on every system.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ladders/render/lab/motion.h"

namespace upsweep::ladders::render {

struct Scene {
  std::string_view name;
  std::size_t circles;  // default number; the distribution is the same for any number
  std::string_view shows;
  void (*draw)(std::span<Circle>, std::uint64_t seed);
  Shading shading = Shading::flat;
  bool adversarial = false;  // for checks, not for pictures
  Motion motion = Motion::none;
  const char* rests = nullptr;  // if set, the scene it starts from, advanced by `begins` frames
  std::uint64_t begins = 0;
};

std::span<const Scene> scenes();
// Throws an Error(invalid_argument) that lists all scenes.
const Scene& find_scene(std::string_view name);
std::vector<Circle> draw_scene(const Scene& scene, std::size_t circles, std::uint64_t seed);

// Random numbers in [0, 1]: the Linux C library's rand() after srand(seed), divided by RAND_MAX. The scenes of
// well-known coursework use them, so that pictures can be compared with those of other renderers.
class CourseRandom {
 public:
  explicit CourseRandom(std::uint64_t seed);
  float operator()() { return static_cast<float>(next()) / 2147483647.0f; }
  std::uint32_t next();

 private:
  std::uint32_t history_[31];
  unsigned at_ = 3;  // index of the oldest word
};

}  // namespace upsweep::ladders::render

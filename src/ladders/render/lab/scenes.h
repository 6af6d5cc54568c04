// Named scenes: circles whose number, places and colours are known, the same on every system.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ladders/render/lab/motion.h"

namespace upsweep::ladders::render {

struct Scene {
  std::string_view name;
  std::size_t circles;  // its own number; generated with another, it keeps its distribution
  std::string_view shows;
  void (*draw)(std::span<Circle>, std::uint64_t seed);
  Shading shading = Shading::flat;
  bool adversarial = false;  // for checks, not for pictures
  Motion motion = Motion::none;
  const char* rests = nullptr;  // the scene that it is drawn from, `begins` frames later
  std::uint64_t begins = 0;
};

std::span<const Scene> scenes();
// Throws Error(invalid_argument) that names all scenes.
const Scene& find_scene(std::string_view name);
std::vector<Circle> draw_scene(const Scene& scene, std::size_t circles, std::uint64_t seed);

// Numbers in [0, 1]: the Linux C library's rand() after srand(seed), divided by its largest value. The scenes of
// well-known course work are drawn from it, so that pictures can be held against other renderers'.
class CourseRandom {
 public:
  explicit CourseRandom(std::uint64_t seed);
  float operator()() { return static_cast<float>(next()) / 2147483647.0f; }
  std::uint32_t next();

 private:
  std::uint32_t history_[31];
  unsigned at_ = 3;  // of the oldest word
};

}  // namespace upsweep::ladders::render

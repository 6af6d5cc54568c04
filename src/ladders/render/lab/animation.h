// Scenes that move, sixty frames a second.
#pragma once
#include <cstdint>
#include <vector>

#include "ladders/render/lab/scenes.h"

namespace upsweep::ladders::render {

// The circles of a scene from frame to frame. The numbers of a frame depend on the scene, the number of circles and the
// seed alone.
class Animation {
 public:
  static constexpr unsigned frames_per_second = 60;
  struct Speed {
    float x = 0, y = 0;
  };

  // At the frame that draw_scene draws. Throws Error(invalid_argument) if the scene stands still.
  Animation(const Scene& scene, std::size_t circles, std::uint64_t seed);
  void step();
  const std::vector<Circle>& circles() const { return circles_; }

 private:
  void fall();
  void bounce();
  void grow();
  void burst();

  const Scene& scene_;
  std::uint64_t seed_, frame_ = 0;
  std::vector<Circle> circles_;
  std::vector<Speed> speeds_;
};

}  // namespace upsweep::ladders::render

// Animated scenes, at 60 frames per second.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/platform.h"
#include "ladders/render/lab/motion.h"
#include "ladders/render/lab/scenes.h"

namespace upsweep::ladders::render {

// The circles of an animated scene, stored and moved in a platform's memory. A frame depends only on the scene, the
// number of circles and the seed, and is the same on every platform.
class Animation {
 public:
  // Starts at the frame that draw_scene() draws. `alpha` replaces every circle's alpha. Work is queued on `stream`; the
  // platform must outlive this object. Throws Error(invalid_argument) if the scene stands still, or
  // Error(out_of_memory).
  Animation(Platform& platform, Stream stream, const Scene& scene, std::size_t circles, std::uint64_t seed,
            std::optional<float> alpha = {});
  // Queues the step to the next frame on the stream.
  void step();
  const Circle* circles() const { return circles_.get(); }  // [circles], in the platform's memory
  std::vector<Circle> on_host() const;

 private:
  struct Release {
    Platform* platform;
    void operator()(void* memory) const { platform->release(memory); }
  };
  template <class T>
  std::unique_ptr<T, Release> place(const std::vector<T>& values);

  Platform& platform_;
  Stream stream_;
  Step step_;
  std::unique_ptr<Circle, Release> circles_;
  std::unique_ptr<Speed, Release> speeds_;
};

// Queues one step of all circles on a GPU's stream.
Status move_on_cuda(const Step& step, Circle* circles, Speed* speeds, Stream stream);

}  // namespace upsweep::ladders::render

// Scenes that move, sixty frames a second.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/platform.h"
#include "ladders/render/lab/motion.h"
#include "ladders/render/lab/scenes.h"

namespace upsweep::ladders::render {

// The circles of a scene from frame to frame, in a platform's memory, where they are moved. The numbers of a frame
// depend on the scene, the number of circles and the seed alone, and are the same on every platform.
class Animation {
 public:
  // At the frame that draw_scene draws. `alpha` replaces that of all circles. Work goes to the stream of the platform,
  // which must outlive this. Throws Error(invalid_argument) if the scene stands still, Error(out_of_memory).
  Animation(Platform& platform, Stream stream, const Scene& scene, std::size_t circles, std::uint64_t seed,
            std::optional<float> alpha = {});
  // Queued on the stream.
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

// Moves all circles by a step, on a GPU.
Status move_on_cuda(const Step& step, Circle* circles, Speed* speeds, Stream stream);

}  // namespace upsweep::ladders::render

// Replaces animation.cu in a build without CUDA.
#include "ladders/render/lab/animation.h"

namespace upsweep::ladders::render {
Status move_on_cuda(const Step&, Circle*, Speed*, Stream) { return {Code::no_device, 0, "a build without CUDA"}; }
}  // namespace upsweep::ladders::render

// Steps of an animation on a GPU, one thread per circle. Compiled without contraction into fused multiply-adds.
#include "kernel/kernel.h"
#include "ladders/render/lab/animation.h"

namespace upsweep::ladders::render {
namespace {

__global__ void move_kernel(Step step, Circle* circles, Speed* speeds) {
  const std::size_t k = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (k < step.circles) step(k, circles, speeds);
}

}  // namespace

Status move_on_cuda(const Step& step, Circle* circles, Speed* speeds, Stream stream) {
  if (step.circles == 0) return {};
  const auto blocks = static_cast<unsigned>(ceil_div(step.circles, 256));
  return launch(move_kernel, {.grid = blocks, .block = 256, .stream = stream}, step, circles, speeds);
}

}  // namespace upsweep::ladders::render

// Replaces platform.cu in a build without CUDA.
#include "base/platform.h"

namespace upsweep {

Platform* cuda_platform(int) { return nullptr; }
std::string why_no_cuda() { return "this program was built without CUDA"; }

}  // namespace upsweep

// In place of platform.cu where the program is built without CUDA.
#include "base/platform.h"

namespace upsweep {

Platform* cuda_platform(int) { return nullptr; }
std::string why_no_cuda() { return "this program was built without CUDA"; }

}  // namespace upsweep

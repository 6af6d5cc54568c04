// Stubs for the laboratory's CUDA files in a build without CUDA.
#include "base/rung.h"
#include "lab/clock.h"

namespace upsweep {
Rungs cuda_peers() { return {}; }
namespace lab {
std::unique_ptr<Clock> make_cuda_clock(Platform&) { return nullptr; }
}  // namespace lab
}  // namespace upsweep

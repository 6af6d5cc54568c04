#include "lab/backends.h"

#include "base/contract.h"

namespace upsweep {

Rungs cpu_peers();   // generated from the ladders that have a lab/peers.cpp
Rungs cuda_peers();  // generated from the ladders that have a lab/peers.cu

}  // namespace upsweep

namespace upsweep::lab {

namespace {
[[maybe_unused, noreturn]] void no_emulator() {
  throw Error(Code::no_device, "this program was built without the emulator",
              "sanitizer builds leave it out; use an ordinary build");
}
}  // namespace

Platform& open_platform(Backend backend) {
  switch (backend) {
    case Backend::cpu:
      return cpu_platform();
    case Backend::cuda:
      if (Platform* cuda = cuda_platform()) return *cuda;
      throw Error(Code::no_device, "no CUDA device: " + why_no_cuda(), "use --backend cpu or --backend simt");
    case Backend::simt:
      break;
  }
  return open_plain();
}

simt::Emulator& open_plain() {
#if defined(UPSWEEP_WITH_SIMT)
  return plain_emulator();
#else
  no_emulator();
#endif
}

simt::Emulator& open_traced() {
#if defined(UPSWEEP_WITH_SIMT)
  return traced_emulator();
#else
  no_emulator();
#endif
}

Rungs peers_of(Backend backend) {
  if (backend == Backend::cpu) return cpu_peers();
  if (backend == Backend::cuda) return cuda_peers();
  return {};
}

std::vector<const Rung*> rungs_and_peers(Platform& platform) {
  std::vector<const Rung*> all = all_rungs(platform);
  const Rungs peers = peers_of(platform.backend());
  all.insert(all.end(), peers.begin(), peers.end());
  return all;
}

std::vector<Backend> present_backends() {
  std::vector<Backend> present{Backend::cpu};
#if defined(UPSWEEP_WITH_SIMT)
  present.push_back(Backend::simt);
#endif
  if (cuda_platform()) present.push_back(Backend::cuda);
  return present;
}

}  // namespace upsweep::lab

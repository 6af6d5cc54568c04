// Helpers for the peers that call CUB.
#pragma once
#include <cub/version.cuh>
#include <string>

#include "base/workspace.h"
#include "kernel/kernel.h"
#include "lab/peers.h"

namespace upsweep::lab {

inline const std::string& cub_version() {
  static const std::string version = version_text("CUB", CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION);
  return version;
}

// Calls algorithm(scratch, bytes, stream), which returns a cudaError_t, in CUB's two phases: with null scratch to query
// the size, then with the scratch.
template <class Algorithm>
Status run_cub(Workspace& workspace, Stream stream, Algorithm&& algorithm) {
  const auto queue = static_cast<cudaStream_t>(stream.handle);
  std::size_t bytes = 0;
  if (const cudaError_t e = algorithm(nullptr, bytes, queue)) return status_of(e);
  Scratch scratch(workspace);
  auto* const memory = scratch.take<std::byte>(bytes);
  if (!scratch) return {Code::out_of_memory, 0, "no memory for CUB's scratch"};
  return status_of(algorithm(memory, bytes, queue));
}

}  // namespace upsweep::lab

// The pieces of an exchange in host memory, for engines that access no other: those of a GPU are copied.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "multi/engine.h"

namespace upsweep::multi {

class HostPieces {
 public:
  // Copies what is sent from GPUs. The transfers must outlive this object.
  explicit HostPieces(std::span<const Transfer> transfers);
  // The same pieces, in host memory.
  std::span<const Transfer> transfers() const { return in_host_; }
  // Copies what was received to GPUs.
  void finish();

 private:
  const std::span<const Transfer> given_;
  std::vector<Transfer> in_host_;
  std::vector<std::vector<std::byte>> copies_;
};

}  // namespace upsweep::multi

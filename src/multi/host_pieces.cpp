#include "multi/host_pieces.h"

#include "base/platform.h"

namespace upsweep::multi {

HostPieces::HostPieces(std::span<const Transfer> transfers)
    : given_(transfers), in_host_(transfers.begin(), transfers.end()) {
  for (Transfer& transfer : in_host_) {
    if (transfer.device->backend() != Backend::cuda) continue;  // an emulated GPU's memory is the host's
    const Activated activated(transfer.device->platform());
    for (Piece& piece : transfer.sends) {
      std::byte* const copy = copies_.emplace_back(piece.bytes).data();
      transfer.device->platform().copy_out(copy, piece.data, piece.bytes, transfer.device->stream());
      piece.data = copy;
    }
    for (Piece& piece : transfer.receives) piece.data = copies_.emplace_back(piece.bytes).data();
    transfer.device->synchronize();
  }
}

void HostPieces::finish() {
  for (std::size_t t = 0; t < given_.size(); ++t) {
    const Transfer &given = given_[t], &copied = in_host_[t];
    if (given.device->backend() != Backend::cuda) continue;
    const Activated activated(given.device->platform());
    for (std::size_t k = 0; k < given.receives.size(); ++k)
      given.device->platform().copy_in(given.receives[k].data, copied.receives[k].data, given.receives[k].bytes,
                                       given.device->stream());
    given.device->synchronize();
  }
}

}  // namespace upsweep::multi

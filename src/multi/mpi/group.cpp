#include "multi/mpi/engine.h"
#include "upsweep/mpi.h"

namespace upsweep {

Group mpi_group(MPI_Comm communicator, std::vector<Device> devices) {
  return Group(std::move(devices), multi::make_mpi_engine(communicator));
}

}  // namespace upsweep

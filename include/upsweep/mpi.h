// Groups of the processes that MPI has started, such as `mpirun -n 4 program`. Link upsweep::mpi.
//
//   MPI_Init(&argc, &argv);
//   upsweep::Group group = upsweep::mpi_group(MPI_COMM_WORLD, {upsweep::Device::cpu()});
#pragma once
#include <mpi.h>

#include <vector>

#include "upsweep/group.h"

namespace upsweep {

// Returns the group of a communicator's processes, in the order of their MPI ranks, each with these devices. All
// processes of the communicator call it together; it duplicates the communicator, so that the group's messages are
// apart from the caller's. The group must be destroyed before MPI_Finalize(). A process that destroys its group, or
// whose group an exception destroys, has left: calls of the others then throw Error(lost_member).
//
// Pieces in a GPU's memory are copied through host memory. Throws Error(device_error) if MPI reports an error.
Group mpi_group(MPI_Comm communicator, std::vector<Device> devices);

}  // namespace upsweep

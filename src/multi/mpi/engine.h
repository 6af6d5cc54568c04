// MPI as the engine of a group.
#pragma once
#include <mpi.h>

#include "multi/engine.h"

namespace upsweep::multi {

// The engine of a communicator, which it duplicates. MPI must be initialised while it lives.
std::unique_ptr<Engine> make_mpi_engine(MPI_Comm communicator);

}  // namespace upsweep::multi

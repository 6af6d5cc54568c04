// MPI for the command.
#pragma once
#include <memory>

#include "multi/engine.h"

namespace upsweep::app {

// True if mpirun or a scheduler has started this process, perhaps among others.
bool is_started_by_mpi();
// Returns the engine of the processes that mpirun or a scheduler has started together; null if this process was not
// started so. Throws Error(unsupported) if it was, but this build has no MPI.
std::shared_ptr<multi::Engine> mpi_engine();

}  // namespace upsweep::app

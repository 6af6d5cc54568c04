#include "app/mpi.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

#include "upsweep/error.h"

namespace upsweep::app {

bool is_started_by_mpi() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_NAMESPACE"})
    if (std::getenv(name)) return true;
  return false;
}

// The module that links MPI lies beside the emulators, and is found through the program's RPATH. It is opened only if
// it is needed: MPI's libraries take longer to load than most commands to run.
std::shared_ptr<multi::Engine> mpi_engine() {
  if (!is_started_by_mpi()) return nullptr;
  void* const module = dlopen("libupsweep_mpi_engine.so", RTLD_NOW);
  if (!module)
    throw Error(Code::unsupported, fmt::format("started by MPI, but {}", dlerror()),
                "build upsweep where MPI's headers are: on Debian, libopenmpi-dev");
  const auto open = reinterpret_cast<multi::Engine* (*)()>(dlsym(module, "upsweep_mpi_engine"));
  if (!open) throw Error(Code::unsupported, "libupsweep_mpi_engine.so is of another version");
  return std::shared_ptr<multi::Engine>(open());
}

}  // namespace upsweep::app

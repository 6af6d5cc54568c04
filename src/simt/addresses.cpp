#include "simt/addresses.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "upsweep/error.h"

namespace upsweep::simt {

std::size_t available_addresses() {
  constexpr std::size_t no_limit = std::size_t{1} << 46;
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return no_limit;
  std::size_t pages = 0;  // in use
  std::ifstream("/proc/self/statm") >> pages;
  const std::size_t most = limit.rlim_cur;
  return std::min(no_limit, most - std::min(most, pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE))));
}

void* try_reserve(std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

void* reserve_addresses(std::size_t bytes) {
  if (void* const memory = try_reserve(bytes)) return memory;
  throw Error(Code::out_of_memory,
              "the emulator cannot reserve " + std::to_string((bytes + (1 << 20) - 1) >> 20) + " MiB of address space",
              "raise the limit on virtual memory (ulimit -v)");
}

}  // namespace upsweep::simt

#include "simt/entered_blocks.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace upsweep::simt {

constinit std::uint8_t* entered_blocks = nullptr;

void record_entered_blocks(const std::uintptr_t* begin, const std::uintptr_t* end) {
  const char* const folder = std::getenv("UPSWEEP_SIMT_COVERAGE");
  Dl_info library{};
  if (entered_blocks || !folder || !*folder || !dladdr(begin, &library)) return;
  const std::string path(library.dli_fname);
  const std::string file = std::string(folder) + '/' + path.substr(path.rfind('/') + 1) + ".blocks";
  const auto count = static_cast<std::size_t>(end - begin) / 2;  // pairs of address and flags
  const std::size_t bytes = count * (sizeof(std::uint64_t) + 1);
  // The processes of a test run share the file: all write the same addresses, and no byte ever returns to 0.
  const int handle = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  void* const memory = handle < 0 || ftruncate(handle, static_cast<off_t>(bytes)) != 0
                           ? MAP_FAILED
                           : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, handle, 0);
  if (handle >= 0) close(handle);
  if (memory == MAP_FAILED) {
    std::perror(file.c_str());
    return;
  }
  auto* const addresses = static_cast<std::uint64_t*>(memory);
  for (std::size_t i = 0; i < count; ++i)
    addresses[i] = begin[2 * i] - reinterpret_cast<std::uintptr_t>(library.dli_fbase);
  entered_blocks = reinterpret_cast<std::uint8_t*>(addresses + count);
}

}  // namespace upsweep::simt

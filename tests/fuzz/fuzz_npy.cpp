// Feeds arbitrary bytes to the .npy reader. It must read them completely or reject them with one clear line, whether or
// not the size is known in advance, and an accepted header must round-trip.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "../memory_source.h"
#include "files/npy.h"
#include "upsweep/error.h"

using namespace upsweep;

namespace {

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "fuzz_npy: %s\n", what);
  std::abort();
}

// Reads all elements and returns the header; nullopt if the bytes were rejected.
std::optional<NpyHeader> read_whole(const std::string& bytes, bool size_known) {
  bool pipe_in_fortran_order = false;
  try {
    NpyReader reader(std::make_unique<MemorySource>(bytes, size_known));
    pipe_in_fortran_order = !size_known && reader.header().fortran_order;
    std::byte buffer[256];
    std::uint64_t total = 0, got = 0;
    do total += got = reader.read(buffer);
    while (got == sizeof buffer / size_of(reader.type()));
    require(total == reader.count(), "read fewer elements than announced");
    require(total * reader.header().stored_bytes() < bytes.size(), "read more bytes than the file has");
    return reader.header();
  } catch (const Error& error) {
    require(error.code() == (pipe_in_fortran_order ? Code::unsupported : Code::bad_file), "refused with another code");
    for (const char* c = error.what(); *c; ++c)
      require(static_cast<unsigned char>(*c) >= ' ' && *c != 0x7f, "control character in the message");
    require(!error.hint().empty(), "no hint");
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const auto header = read_whole(bytes, true);
  const bool only_of_files = header && header->fortran_order;
  require((header && !only_of_files) == read_whole(bytes, false).has_value(),
          "a pipe gives another result than a file");
  if (!header) return 0;
  MemorySource again(npy_header(header->type, header->shape));
  const NpyHeader copy = read_npy_header(again);
  require(copy.type == header->type && copy.shape == header->shape, "the header does not round-trip");
  return 0;
}

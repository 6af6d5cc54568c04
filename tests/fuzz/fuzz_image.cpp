// Feeds arbitrary bytes to the image readers: PNG, JPEG, PGM or PPM, chosen by the first bytes. The readers must read
// the bytes completely or reject them with one clear line, and must do the same for a pipe as for a file. A PNG's
// checksums are corrected first, so that the code past them is reached.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "../memory_source.h"
#include "files/array_file.h"
#include "files/content.h"
#include "upsweep/error.h"

using namespace upsweep;

namespace {

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "fuzz_image: %s\n", what);
  std::abort();
}

// Larger images add no coverage.
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 24;

// Reads the samples, up to a limit, and returns their FNV-1a hash; nullopt if the bytes were rejected.
std::optional<std::uint64_t> read_whole(const std::string& bytes, bool size_known) {
  try {
    const auto reader =
        open_array(std::make_unique<MemorySource>(bytes, size_known), std::nullopt, FileFormat::automatic);
    require(reader->channels() >= 1 && reader->channels() <= 4, "neither one nor up to four channels");
    require(*reader->count() % reader->channels() == 0, "a part of a pixel");
    static std::array<std::byte, 1 << 16> buffer;
    std::uint64_t total = 0, got = 0, hash = 0xcbf29ce484222325;
    do {
      total += got = reader->read(buffer) * size_of(reader->type());
      for (std::uint64_t k = 0; k < got; ++k) hash = (hash ^ static_cast<std::uint8_t>(buffer[k])) * 0x100000001b3;
    } while (got == buffer.size() && total < most_bytes);
    if (got < buffer.size()) require(total == *reader->count() * size_of(reader->type()), "not as many as announced");
    return hash;
  } catch (const Error& error) {
    require(error.code() == Code::bad_file || error.code() == Code::unsupported, "refused with another code");
    for (const char* c = error.what(); *c; ++c)
      require(static_cast<unsigned char>(*c) >= ' ' && *c != 0x7f, "control character in the message");
    require(!error.hint().empty(), "no hint");
    return std::nullopt;
  }
}

// CRC-32 as in the PNG specification, bit by bit.
std::uint32_t crc_of(std::string_view bytes) {
  std::uint32_t crc = ~0u;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int k = 0; k < 8; ++k) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc;
}

// Corrects the checksum of each chunk: data length, four letters, data, CRC of letters and data.
std::string with_checksums(std::string png) {
  for (std::size_t at = 8; at + 12 <= png.size();) {
    std::size_t length = 0;
    for (std::size_t k = 0; k < 4; ++k) length = length << 8 | static_cast<unsigned char>(png[at + k]);
    if (length > png.size() - at - 12) break;
    const std::uint32_t crc = crc_of(std::string_view(png).substr(at + 4, 4 + length));
    for (std::size_t k = 0; k < 4; ++k) png[at + 8 + length + k] = static_cast<char>(crc >> (24 - 8 * k));
    at += 12 + length;
  }
  return png;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  const Content content = content_of(bytes);
  if (content == Content::unknown || content == Content::npy) return 0;  // fuzz_npy covers .npy
  if (content == Content::png) bytes = with_checksums(bytes);
  require(read_whole(bytes, true) == read_whole(bytes, false), "a pipe gives another result than a file");
  return 0;
}

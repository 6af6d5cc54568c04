// Feeds arbitrary bytes to the readers of circles, which choose CSV, JSON or .npy by content. The readers must read the
// bytes completely or reject them with one clear line, whether or not the size is known in advance. Accepted circles
// must be drawable.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "../memory_source.h"
#include "ladders/render/lab/circle_file.h"
#include "upsweep/error.h"

using namespace upsweep;
using namespace upsweep::ladders::render;

namespace {

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "fuzz_circles: %s\n", what);
  std::abort();
}

void require_circle(const WideCircle& c) {
  require(std::isfinite(c.x) && std::isfinite(c.y), "a position is not finite");
  require(std::isfinite(c.radius) && c.radius >= 0, "a radius is negative or not finite");
  require(std::isfinite(c.z), "z is not finite");
  require(c.alpha >= 0 && c.alpha <= 1, "alpha is not in [0, 1]");
  for (const float colour : {c.red, c.green, c.blue}) require(std::fabs(colour) < 1.01f, "a colour is not in [0, 1]");
}

// Returns the number of circles; nullopt if the bytes were rejected.
std::optional<std::size_t> read_whole(const std::string& bytes, bool size_known) {
  std::size_t count = 0;
  try {
    read_circles(std::make_unique<MemorySource>(bytes, size_known), ColourRange::of_bytes, [&](const WideCircle& c) {
      require_circle(c);
      ++count;
    });
    return count;
  } catch (const Error& error) {
    require(error.code() == Code::bad_file, "refused with a code other than bad_file");
    const std::string what = error.what();
    require(what.size() < 1000, "a message without end");
    for (const char c : what)
      require(static_cast<unsigned char>(c) >= ' ' && c != '\x7f', "a control character in the message");
    require(!error.hint().empty(), "no hint");
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const auto count = read_whole(bytes, true);
  require(count == read_whole(bytes, false), "a pipe gives another result than a file");
  return 0;
}

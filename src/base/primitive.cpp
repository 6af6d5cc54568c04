#include "base/primitive.h"

#include <cstring>

#include "base/inputs.h"

namespace upsweep {

std::unique_ptr<std::byte[]> main_input(const Case& c, std::span<const std::byte> data) {
  const std::size_t bytes = c.n * size_of(c.type);
  auto in = std::make_unique_for_overwrite<std::byte[]>(bytes);
  if (data.empty())
    fill_input(c.input, c.type, c.n, c.seed, in.get());
  else if (data.size() == bytes)
    std::memcpy(in.get(), data.data(), bytes);
  else
    throw Error(Code::invalid_argument, "the data and the case's n disagree about the size");
  return in;
}

}  // namespace upsweep

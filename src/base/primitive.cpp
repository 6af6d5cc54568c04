#include "base/primitive.h"

#include <cstring>

#include "base/inputs.h"

namespace upsweep {

std::vector<Type> all_types() {
  std::vector<Type> types;
  for (std::size_t t = 0; t < type_names.size(); ++t) types.push_back(static_cast<Type>(t));
  return types;
}

std::vector<std::size_t> sizes_around(std::initializer_list<std::size_t> tiles, const Rung& rung) {
  std::vector<std::size_t> sizes;
  for (const std::size_t tile : tiles) sizes.insert(sizes.end(), {tile - 1, tile, tile + 1});
  if (rung.backend != Backend::simt) sizes.insert(sizes.end(), {100003, (1 << 20) + 1});
  return sizes;
}

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

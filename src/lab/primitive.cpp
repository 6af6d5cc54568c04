#include "lab/primitive.h"

#include <cstring>

#include "lab/inputs.h"

namespace upsweep {

std::span<const Operation> Primitive::operations() const {
  static constexpr Operation none[1];
  return contract.operations.empty() ? std::span<const Operation>(none) : contract.operations;
}

const Parameter* Primitive::parameter(std::string_view name) const {
  for (const auto& parameters : {contract.scalars, shapes})
    for (const Parameter& parameter : parameters)
      if (parameter.name == name) return &parameter;
  return nullptr;
}

Settings Primitive::settings(Type type, std::initializer_list<std::pair<std::string_view, std::string>> texts) const {
  Settings settings;
  for (const auto& [name, text] : texts) {
    const Parameter* const found = parameter(name);
    if (!found)
      throw Error(Code::invalid_argument,
                  std::string(contract.name) + " has no parameter named '" + std::string(name) + "'");
    settings.set(*found, parse_value(*found, type, text));
  }
  return settings;
}

Call call_of(const Primitive& primitive, const Case& c) {
  Call call{.operation = c.operation, .tuning = c.tuning};
  for (std::size_t k = 0; k < primitive.contract.scalars.size(); ++k) {
    const std::string_view name = primitive.contract.scalars[k].name;
    if (const Scalar* const given = c.settings.find(name))
      call.scalars[k] = *given;
    else if (primitive.default_scalar)
      call.scalars[k] = primitive.default_scalar(name, c.type);
  }
  return call;
}

void run_chunk(RunFn run, const Call& call, std::string_view primitive) {
  if (const Status s = run(call); !s)
    throw Error(s.code, std::string(primitive) + " failed: " + (s.message ? s.message : "no message"));
}

RunFn streaming_run(const Rung& rung, const Case& c) {
  const std::string name = std::string(rung.primitive) + "/" + std::string(rung.name);
  const RunFn run = rung.find(c.type, c.operation);
  if (!run)
    throw Error(Code::unsupported,
                name + " does not take " + std::string(to_string(c.type)) +
                    (c.operation ? " " + std::string(c.operation.name()) : std::string()),
                "name another rung");
  if (rung.largest)
    throw Error(Code::unsupported, name + " takes up to " + std::to_string(rung.largest) + " elements",
                "name another rung");
  return run;
}

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

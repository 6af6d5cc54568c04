#include "lab/primitive.h"

#include <algorithm>
#include <cstring>

#include "lab/inputs.h"
#include "lab/sums.h"

namespace upsweep {

std::vector<Operation> Primitive::operations() const {
  if (contract.operations.empty()) return {Operation()};
  return {contract.operations.begin(), contract.operations.end()};
}

const Parameter* Primitive::parameter(std::string_view name) const {
  for (const auto& parameters : {contract.scalars, shapes})
    for (const Parameter& parameter : parameters)
      if (parameter.name == name) return &parameter;
  return nullptr;
}

bool Primitive::reads_streamed(const Parameter& parameter) const {
  const auto same = [&](const Parameter& shape) { return shape.name == parameter.name; };
  return std::none_of(shapes.begin(), shapes.end(), same) ||
         std::find(streamed.begin(), streamed.end(), parameter.name) != streamed.end();
}

std::vector<const Parameter*> Primitive::parameters_of(Operation operation) const {
  std::vector<const Parameter*> all;
  for (std::size_t k = 0; k < contract.scalars.size(); ++k)
    if (!contract.reads_scalar || contract.reads_scalar({.operation = operation}, k))
      all.push_back(&contract.scalars[k]);
  for (const Parameter& shape : shapes) all.push_back(&shape);
  return all;
}

Type Primitive::type_of(const Parameter& parameter, const Case& c) const {
  return parameter.kind == Parameter::Kind::result ? contract.type_of_output(call_of(*this, c), 0) : c.type;
}

Settings Primitive::settings(Type type, std::initializer_list<std::pair<std::string_view, std::string>> texts) const {
  Case c{.type = type};
  for (const auto& [name, text] : texts) {
    const Parameter* const found = parameter(name);
    if (!found)
      throw Error(Code::invalid_argument,
                  std::string(contract.name) + " has no parameter named '" + std::string(name) + "'");
    c.settings.set(*found, parse_value(*found, type_of(*found, c), text));
  }
  return c.settings;
}

Call call_of(const Primitive& primitive, const Case& c) {
  Call call{.operation = c.operation, .tuning = c.tuning};
  call.in[0].type = c.type;
  if (const Scalar* const out = c.settings.find(out_type_shape.name))
    call.out[0].type = *parse<Type>(out_type_names[out->as<std::uint8_t>()]);
  for (std::size_t k = 0; k < primitive.contract.scalars.size(); ++k) {
    const std::string_view name = primitive.contract.scalars[k].name;
    if (const Scalar* const given = c.settings.find(name))
      call.scalars[k] = *given;
    else if (primitive.scalar_of_input)
      call.scalars[k] = primitive.scalar_of_input(name, c.input);
  }
  primitive.contract.complete(call);
  return call;
}

Traffic Problem::traffic(const Rung& rung) const {
  std::size_t bytes = 0;
  for (const Array& array : inputs()) bytes += array.bytes();
  for (const Array& array : outputs()) bytes += array.bytes();
  return {bytes, ceiling(rung)};
}

std::vector<Array> Problem::outputs() const {
  const Contract& contract = primitive_.contract;
  Call call = call_of(primitive_, case_);
  std::ranges::copy(inputs(), call.in.begin());
  choose_outputs(call);
  std::vector<Array> all;
  for (std::size_t k = 0; k < contract.outputs.size(); ++k)
    all.push_back({contract.type_of_output(call, k), contract.room(call, k), call.out[k].data});
  return all;
}

void Problem::require_valid() const {
  const Call call = host_call();
  primitive_.contract.require_arrays(call);
  if (primitive_.contract.validate_elements) primitive_.contract.validate_elements(call);
}

Call Problem::host_call(std::span<const void* const> outputs) const {
  Call call = call_of(primitive_, case_);
  std::ranges::copy(inputs(), call.in.begin());
  std::ranges::copy(this->outputs(), call.out.begin());
  for (std::size_t k = 0; k < outputs.size(); ++k) call.out[k].data = const_cast<void*>(outputs[k]);
  return call;
}

Type index_type_of(const Case& c) {
  const Scalar* const given = c.settings.find(index_type_shape.name);
  if (!given) return {};
  return *parse<Type>(index_type_names[given->as<std::uint8_t>()]);
}

std::vector<Type> all_types() {
  std::vector<Type> types;
  for (std::size_t t = 0; t < type_names.size(); ++t) types.push_back(static_cast<Type>(t));
  return types;
}

std::vector<Type> arithmetic_types() {
  std::vector<Type> types = all_types();
  std::erase_if(types, &is_half_type);
  return types;
}

std::vector<Settings> every_choice(const Primitive& primitive, Type) {
  std::vector<Settings> all(1);
  for (const auto& parameters : {primitive.contract.scalars, primitive.shapes})
    for (const Parameter& parameter : parameters) {
      const bool is_flag = parameter.kind == Parameter::Kind::flag;
      const std::size_t values = is_flag ? 2 : parameter.choices.size();
      const std::size_t before = all.size();
      for (std::size_t value = 1; value < values; ++value)  // 0 is the default
        for (std::size_t k = 0; k < before; ++k) {
          all.push_back(all[k]);
          all.back().set(parameter, is_flag ? Scalar(true) : Scalar(static_cast<std::uint8_t>(value)));
        }
    }
  return all;
}

std::unique_ptr<std::byte[]> main_input(const Case& c, std::span<const std::byte> data) {
  const std::size_t bytes = c.n * size_of(c.type);
  auto in = std::make_unique_for_overwrite<std::byte[]>(bytes);
  if (data.empty())
    fill_input(c.input, c.type, c.n, c.seed, in.get());
  else if (data.size() == bytes)
    std::memcpy(in.get(), data.data(), bytes);
  else
    throw Error(Code::invalid_argument, "the data's size does not match the case's n");
  return in;
}

}  // namespace upsweep

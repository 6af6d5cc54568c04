#include "base/contract.h"

namespace upsweep {

void refuse(std::string_view who, const std::string& what, const std::string& hint) {
  throw Error(Code::invalid_argument, std::string(who) + ": " + what, hint);
}

void require_room(std::string_view who, std::string_view array, std::size_t count, std::size_t needed) {
  if (count >= needed) return;
  refuse(who, std::string(array) +
                  (count == 0 ? " has no element, " : " has " + std::to_string(count) + " elements, ") +
                  std::to_string(needed) + (needed == 1 ? " is needed" : " are needed"));
}

void require_type(std::string_view who, std::string_view array, Type type, Type needed, const std::string& hint) {
  if (type == needed) return;
  refuse(who, std::string(array) + " is " + std::string(to_string(type)) + ", not " + std::string(to_string(needed)),
         hint);
}

void require_array(std::string_view who, std::string_view name, const Array& array, Type type, std::size_t count,
                   const std::string& hint) {
  require_room(who, name, array.count, count);
  require_type(who, name, array.type, type, hint);
}

namespace {

Scalar initial_of(const Parameter& parameter, Type element, const Scalars& before) {
  if (parameter.initial_for) return parameter.initial_for(element, before);
  if (parameter.kind != Parameter::Kind::element) return parameter.initial;  // empty for a result
  return visit_any(element, [&]<class T>(TypeTag<T>) -> Scalar {
    return static_cast<T>(static_cast<Computed<T>>(parameter.initial.as<double>()));
  });
}

}  // namespace

void Contract::complete(Call& c) const {
  for (std::size_t k = 0; k < scalars.size(); ++k)
    if (!c.scalars[k]) c.scalars[k] = initial_of(scalars[k], c.type(), c.scalars);
}

void Contract::require_arrays(const Call& c) const {
  for (std::size_t k = 1; k < inputs.size(); ++k) {
    if (!inputs[k].like_main) continue;
    if (c.in[k].count != c.n())
      refuse(name, std::string(inputs[0].name) + " has " + std::to_string(c.n()) + " elements, " +
                       std::string(inputs[k].name) + " " + std::to_string(c.in[k].count));
    require_type(name, inputs[k].name, c.in[k].type, c.type());
  }
  if (validate) validate(c);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (const std::size_t needed = room(c, k))  // 0: the output is not written
      require_array(name, outputs[k].name, c.out[k], type_of_output(c, k), needed, outputs[k].types);
  }
}

const Rung* chosen_rung(const Contract& contract, const Platform& platform, const Call& call) {
  if (!contract.choose) return nullptr;
  return find_rung(platform.rungs_of(contract), contract.name, contract.choose(call, platform.machine()).rung);
}

}  // namespace upsweep

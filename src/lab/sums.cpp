#include "lab/sums.h"

#include <algorithm>
#include <span>

#include "lab/widen.h"

namespace upsweep {
namespace {

constexpr std::string_view initial = "initial", segment_length = "segment_length";

// Returns a value that is not the identity of any operator, and small, so that float sums lose no accuracy.
Scalar usual_initial(Type type) {
  return visit_any(type, []<class T>(TypeTag<T>) -> Scalar { return static_cast<T>(3); });
}

}  // namespace

Scalar out_type_scalar(Type type) {
  const auto at = std::find(std::begin(out_type_names), std::end(out_type_names), to_string(type));
  return static_cast<std::uint8_t>(at - std::begin(out_type_names));
}

Type out_type_of(const Primitive& primitive, const Case& c) {
  const Call call = call_of(primitive, c);
  const Type type = primitive.contract.type_of_output(call, 0);
  if (c.settings.find(out_type_shape.name) && call.out[0].type != type)
    throw Error(Code::unsupported,
                std::string(primitive.name()) + ": the " + std::string(c.operation.name()) + " of " +
                    std::string(to_string(c.type)) + " is not written as " + std::string(to_string(call.out[0].type)),
                wider_sums);
  return type;
}

Scalar initial_value(const Case& c) {
  const Scalar* const given = c.settings.find(initial);
  return given ? *given : Scalar();
}

bool takes_sum(const Rung& rung, const Case& c) {
  return (rung.takes_initial || !initial_value(c)) &&
         (rung.takes_wider_output || !c.settings.find(out_type_shape.name)) &&
         (rung.takes_segments || !c.settings.get(segment_length, std::uint64_t{0}));
}

std::vector<Settings> sum_variants(const Primitive& primitive, Type type) {
  std::vector<Settings> choices = every_choice(primitive, type);
  std::erase_if(choices, [](const Settings& settings) { return settings.find(out_type_shape.name); });
  std::vector<Settings> all;
  const auto type_of_result = [&](Op op) {
    return primitive.contract.type_of_output({.operation = op, .in = {{{.type = type}}}}, 0);
  };
  const Type of_sum = type_of_result(Op::sum), of_extreme = type_of_result(Op::min);
  const auto add = [&](std::optional<Type> out, bool with_initial) {
    for (Settings settings : choices) {
      if (out) settings.set(out_type_shape, out_type_scalar(*out));
      if (with_initial) settings.set(*primitive.parameter(initial), usual_initial(out.value_or(of_extreme)));
      all.push_back(settings);
    }
  };
  // If sums and extremes have different types (reduce of u8), no initial value suits both, so cases with an initial
  // value always name the output type.
  const bool differ = widens_sums(type, of_sum) && of_sum != of_extreme;
  for (const bool with_initial : {false, true}) {
    if (!differ || !with_initial) add(std::nullopt, with_initial);
    for (const std::string_view name : out_type_names)
      if (const Type out = *parse<Type>(name); widens_sums(type, out)) add(out, with_initial);
  }
  return all;
}

Converted::Converted(Type from, const void* elements, std::size_t n, Type to)
    : data_(static_cast<const std::byte*>(elements)) {
  if (from == to) return;
  bytes_.resize(n * size_of(to));
  widen(from, std::span(data_, n * size_of(from)), to, bytes_.data());
  data_ = bytes_.data();
}

}  // namespace upsweep

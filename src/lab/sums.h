// Cases of reductions and scans, which may have an initial value and an output wider than the elements.
#pragma once
#include <cstddef>
#include <vector>

#include "lab/primitive.h"

namespace upsweep {

// The shape parameter that sets the output's type.
inline constexpr std::string_view out_type_names[] = {"u32", "u64", "i64", "f64", "f32"};
inline constexpr Parameter out_type_shape{.name = "out_type",
                                          .kind = Parameter::Kind::choice,
                                          .meaning = "of a sum that is computed and written wider than its elements",
                                          .choices = out_type_names,
                                          .initial_in_words = "the input's; u64 for reduce of u8"};
inline constexpr Parameter sum_shapes[] = {out_type_shape};
inline constexpr std::string_view sum_shapes_streamed[] = {out_type_shape.name};
Scalar out_type_scalar(Type type);

// Returns the type of a case's output. Throws Error(unsupported) if the case names an output type that its input and
// operation do not allow.
Type out_type_of(const Primitive& primitive, const Case& c);

// Returns the initial value of a case; empty if it has none.
Scalar initial_value(const Case& c);

// True if the rung supports the initial value, the explicit output type and the segments of the case, if it has them.
bool takes_sum(const Rung& rung, const Case& c);

// Returns the parameter sets of a check: every combination of choices, with and without an initial value, for the
// default output type and for each wider one.
std::vector<Settings> sum_variants(const Primitive& primitive, Type type);

// The elements of an array, converted to a type that represents them exactly. Not copied if the type is the same.
class Converted {
 public:
  Converted(Type from, const void* elements, std::size_t n, Type to);
  const std::byte* data() const { return data_; }

 private:
  std::vector<std::byte> bytes_;
  const std::byte* data_;  // the original elements, if the type is the same
};

}  // namespace upsweep

// The operations of upsweep/reduce.h besides the operators, and its scalars.
#pragma once
#include <cstdint>
#include <string_view>

#include "upsweep/parameter.h"

namespace upsweep {

// Reductions to the index of the first smallest or largest element.
enum class IndexOf : std::uint8_t { min, max };
constexpr std::string_view to_string(IndexOf e) { return e == IndexOf::min ? "argmin" : "argmax"; }

struct Reducing {
  Scalar initial{};  // of the output's type; empty: the operator's neutral element
  std::uint64_t segment_length = 0;
};
inline constexpr ScalarTable reduce_scalars{
    scalar<&Reducing::initial>(
        {.name = "initial", .meaning = "precedes in[0]", .initial_in_words = "the operator's neutral element"}),
    scalar<&Reducing::segment_length>(
        {.name = "segment_length",
         .meaning = "reduces each segment of this many elements, of which the last may have fewer",
         .initial_in_words = "all elements are one segment"})};

}  // namespace upsweep

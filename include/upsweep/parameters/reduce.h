// The scalars of upsweep/reduce.h.
#pragma once
#include "upsweep/parameter.h"

namespace upsweep {

struct Reducing {
  Scalar initial{};  // of the output's type; empty: the operator's neutral element
};
inline constexpr ScalarTable reduce_scalars{scalar<&Reducing::initial>(
    {.name = "initial", .meaning = "precedes in[0]", .initial_in_words = "the operator's neutral element"})};

}  // namespace upsweep

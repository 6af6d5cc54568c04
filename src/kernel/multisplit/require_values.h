// A contract's requirements on the values that accompany keys.
#pragma once
#include <string>
#include <string_view>

#include "base/contract.h"

namespace upsweep::multisplit {

// Throws Error(invalid_argument) unless in[1] has a value for each key, of a supported width.
inline void require_values(std::string_view who, const Call& c) {
  const Array& values = c.in[1];
  const std::size_t element = size_of(values.type);
  if (element < 4) refuse(who, "the values are " + std::string(to_string(values.type)), "a value has 4, 8 or 16 bytes");
  if (values.count != c.n() && (element != 8 || values.count != 2 * c.n()))
    refuse(who,
           std::to_string(values.count) + " " + std::string(to_string(values.type)) + " values for " +
               std::to_string(c.n()) + " keys",
           "one for each key; values of 16 bytes are two elements of 8 bytes each");
}

}  // namespace upsweep::multisplit

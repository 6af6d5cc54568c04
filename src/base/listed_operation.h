// The operations of a primitive, as its binding lists them.
#pragma once
#include <span>

#include "upsweep/scalar.h"

namespace upsweep {

// One operation in a binding's list.
struct ListedOperation {
  Operation operation;
  bool typical = false;  // the emulators compile it for more types (base/coverage.h)

  constexpr operator const Operation&() const { return operation; }
};

// True if the list contains O::operation.
template <class O>
constexpr bool lists(std::span<const ListedOperation> operations) {
  for (const ListedOperation& listed : operations)
    if (listed.operation == Operation(O::operation)) return true;
  return false;
}

// True if O is typical in the Binding's list, or is the primitive's only operation.
template <class Binding, class O>
constexpr bool is_typical() {
  if constexpr (requires { Binding::operations; })
    for (const ListedOperation& listed : Binding::operations)
      if (listed.operation == Operation(O::operation)) return listed.typical;
  return true;
}

}  // namespace upsweep

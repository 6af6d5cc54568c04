// The operations of a primitive, as its folder lists them.
#pragma once
#include <span>

#include "upsweep/scalar.h"

namespace upsweep {

// Its name is the operation's own.
struct ListedOperation {
  Operation operation;
  bool typical = false;  // one of those for which the emulators compile more types (base/coverage.h)

  constexpr operator const Operation&() const { return operation; }
};

// True if a list has the operation of the struct O, which is O::operation.
template <class O>
constexpr bool lists(std::span<const ListedOperation> operations) {
  for (const ListedOperation& listed : operations)
    if (listed.operation == Operation(O::operation)) return true;
  return false;
}

// True if O is typical in the Binding's list, or the primitive leaves no choice.
template <class Binding, class O>
constexpr bool is_typical() {
  if constexpr (requires { Binding::operations; })
    for (const ListedOperation& listed : Binding::operations)
      if (listed.operation == Operation(O::operation)) return listed.typical;
  return true;
}

}  // namespace upsweep

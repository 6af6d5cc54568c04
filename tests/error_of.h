// error_of(): the Error of an action that must fail.
#pragma once
#include <gtest/gtest.h>

#include <utility>

#include "upsweep/error.h"

namespace upsweep {

// Returns the Error that the action throws. Fails the test if it throws none.
template <class Action>
Error error_of(Action&& action) {
  try {
    std::forward<Action>(action)();
  } catch (const Error& e) {
    return e;
  }
  ADD_FAILURE() << "no error";
  return {Code::ok, ""};
}

}  // namespace upsweep

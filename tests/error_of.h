// The error of an action that must fail.
#pragma once
#include <gtest/gtest.h>

#include <utility>

#include "upsweep/error.h"

namespace upsweep {

// Fails the test if nothing is thrown.
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

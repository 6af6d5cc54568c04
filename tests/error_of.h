// error_of(): returns the Error that an action throws.
#pragma once
#include <gtest/gtest.h>

#include <string_view>
#include <utility>

#include "upsweep/error.h"

namespace upsweep {

// Returns the Error that the action throws. Fails the test if it throws none, or one whose text is not one line.
template <class Action>
Error error_of(Action&& action) {
  try {
    std::forward<Action>(action)();
  } catch (const Error& e) {
    EXPECT_EQ(std::string_view(e.what()).find('\n'), std::string_view::npos) << e.what();
    return e;
  }
  ADD_FAILURE() << "no error";
  return {Code::ok, ""};
}

}  // namespace upsweep

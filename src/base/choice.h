// The rung that a ladder's choose.h picks for a call.
#pragma once
#include <string_view>

namespace upsweep {

struct Choice {
  std::string_view rung;
  std::string_view because;  // "up to 2 MiB, fewer launches"
};

}  // namespace upsweep

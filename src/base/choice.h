// Which rung a call gets: the answer of every ladder's choose.h.
#pragma once
#include <string_view>

namespace upsweep {

struct Choice {
  std::string_view rung;
  std::string_view because;  // "up to 2 MiB, fewer launches"
};

}  // namespace upsweep

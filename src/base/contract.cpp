#include "base/contract.h"

namespace upsweep {

void refuse(std::string_view who, const std::string& what, const std::string& hint) {
  throw Error(Code::invalid_argument, std::string(who) + ": " + what, hint);
}

void require_room(std::string_view who, std::string_view array, std::size_t count, std::size_t needed) {
  if (count >= needed) return;
  refuse(who, std::string(array) +
                  (count == 0 ? " has no element, " : " has " + std::to_string(count) + " elements, ") +
                  std::to_string(needed) + (needed == 1 ? " is needed" : " are needed"));
}

void require_type(std::string_view who, std::string_view array, Type type, Type needed) {
  if (type != needed)
    refuse(who, std::string(array) + " is " + std::string(to_string(type)) + ", not " + std::string(to_string(needed)));
}

}  // namespace upsweep

#include "base/needs.h"

#include <string>

#include "upsweep/error.h"

namespace upsweep {

void require_needs(const Rung& rung, const Machine& machine) {
  if (machine.meets(rung.needs)) return;
  throw Error(Code::unsupported,
              std::string(rung.primitive) + "/" + std::string(rung.name) + " needs " + to_string(rung.needs),
              "this is " + to_string(machine) + "; leave the rung out, or name another one");
}

}  // namespace upsweep

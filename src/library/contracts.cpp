// The contracts of this program: one for each folder of ladders/ that has a ladder.inc.
#include "base/contract.h"

namespace upsweep {

#define PRIMITIVE(name) extern const Contract name##_contract;
#include "primitives.inc"
#undef PRIMITIVE

std::span<const Contract* const> contracts() {
  static constexpr const Contract* all[] = {
#define PRIMITIVE(name) &name##_contract,
#include "primitives.inc"
#undef PRIMITIVE
  };
  return all;
}

const Contract* find_contract(std::string_view name) {
  for (const Contract* contract : contracts())
    if (contract->name == name) return contract;
  return nullptr;
}

std::vector<const Rung*> all_rungs(const Platform& platform) {
  std::vector<const Rung*> all;
  for (const Contract* contract : contracts())
    for (const Rung* rung : platform.rungs_of(*contract)) all.push_back(rung);
  return all;
}

}  // namespace upsweep

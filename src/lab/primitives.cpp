// The laboratory's primitives: one per folder of ladders/ with a ladder.inc.
#include "lab/primitive.h"

namespace upsweep {

#define PRIMITIVE(name) extern const Primitive name##_primitive;
#include "primitives.inc"
#undef PRIMITIVE

std::span<const Primitive* const> primitives() {
  static constexpr const Primitive* all[] = {
#define PRIMITIVE(name) &name##_primitive,
#include "primitives.inc"
#undef PRIMITIVE
  };
  return all;
}

const Primitive* find_primitive(std::string_view name) {
  for (const Primitive* primitive : primitives())
    if (primitive->name() == name) return primitive;
  return nullptr;
}

}  // namespace upsweep

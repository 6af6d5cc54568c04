// The scan ladder with a non-commutative operator: a rung that swaps operands anywhere gives a wrong result.
#include <optional>
#include <vector>

#include "affine.h"
#include "base/typed_rung.h"
#include "ordered_scan_kernels.h"  // generated: every kernel of the scan ladder
#include "test_kernel.h"
#include "upsweep/scan.cuh"  // the public entry; calling it needs the library, which is not linked here

namespace upsweep::test {
namespace {

using namespace ladders;

static_assert(DeviceScanElement<Affine> && DeviceOperator<Compose, Affine>);
static_assert(commutes<Sum> && !commutes<Compose>);

template <class R>
Status run_ordered(const Call& c) {
  return R::template run<Affine, Compose>(
      {c.execution(), in<Affine>(c), out<Affine>(c), c.n(), c.scalars[0].as<bool>(), Compose{}});
}

// Returns R as a test rung; nothing if it does not support user-defined types and operators.
template <class R>
std::optional<Rung> ordered(std::string_view name) {
  if constexpr (supports<R, Affine, Compose>())
    return make_rung<run_ordered<R>>(name);
  else
    return std::nullopt;
}

#define RUNG(kind, name) RUNG_##kind(name)
#define RUNG_cpu(name)
#define RUNG_mutant(name)
#define RUNG_kernel(name) ordered<scan::name>("scan/" #name),
const std::optional<Rung> rungs[] = {
#include "ladders/scan/ladder.inc"
};
#undef RUNG

}  // namespace

Rungs ordered_scan_kernels() {
  static const std::vector<const Rung*> all = [] {
    std::vector<const Rung*> pointers;
    for (const std::optional<Rung>& rung : rungs)
      if (rung) pointers.push_back(&*rung);
    return pointers;
  }();
  return all;
}

}  // namespace upsweep::test

// The scan ladder with a non-commutative operator: a rung that swaps operands anywhere gives a wrong result.
#include <bit>
#include <optional>
#include <vector>

#include "affine.h"
#include "base/typed_rung.h"
#include "ordered_scan_kernels.h"  // generated: includes every kernel of the scan ladder
#include "test_kernel.h"
#include "upsweep/scan.cuh"  // the public entry point; not called, because the library is not linked

namespace upsweep::test {
namespace {

using namespace ladders;

static_assert(DeviceScanElement<Affine> && DeviceOperator<Compose, Affine>);
static_assert(commutes<Sum> && !commutes<Compose>);

// The initial value is passed as the u64 of its bytes.
template <class R>
Status run_ordered(const Call& c) {
  if (c.scalars[1] && !takes_initial<R>()) return no_initial;
  Initial<Affine, Compose> initial;
  if (c.scalars[1]) initial = {std::bit_cast<Affine>(c.scalars[1].as<std::uint64_t>()), true};
  const scan::Args<Affine, Compose> args{c.execution(),           in<Affine>(c), out<Affine>(c), c.n(),
                                         c.scalars[0].as<bool>(), Compose{},     initial};
  return R::template run<Affine, Compose>(args);
}

// Returns R as a test rung; nullopt if it does not support user-defined types and operators.
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

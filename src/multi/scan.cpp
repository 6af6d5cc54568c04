// scan on a group: each member reduces its part, and then scans it with what precedes it as the initial value. That is
// three passes over memory instead of two: as much as a reduction and a scan on one device.
#include "upsweep/scan.h"

#include <vector>

#include "base/combine.h"
#include "multi/group_call.h"
#include "upsweep/reduce.h"

namespace upsweep::multi {
namespace {

// True if a reduction has this sum: of integers of 8 and 16 bits there are only scans.
bool is_reducible(Op op, Type in, Type out) {
  const bool narrow = size_of(in) < 4 && !is_half_type(in);
  return op == Op::min || op == Op::max || !narrow || (in == Type::u8 && size_of(out) >= 4);
}

}  // namespace

void scan(GroupCall& call) {
  const Scanning how = scan_scalars.read(call.first().scalars);
  const Op op = call.first().operation.as<Op>();
  const Type in = call.first().in[0].type, type = call.first().out[0].type;
  const bool reduces = is_reducible(op, in, type);
  // True if a later part needs the member's total.
  const auto is_needed = [&](const Member& m) { return m.n() > 0 && call.before(m.rank) + m.n() < call.total(); };

  // 1. The total of each part.
  call.each([&](Member& m) {
    call.require_arrays(m);
    if (!is_needed(m)) return;
    Request part{.contract = &reduce_contract, .operation = op, .in = {m.request.in[0]}, .out = {m.landing(type, 1)}};
    if (!reduces) {
      part.contract = &scan_contract;
      part.out[0] = m.take(type, m.n());
      part.scalars = scan_scalars.scalars({.inclusive = true});
    }
    m.run(part);
    if (!reduces) {
      const Scalar last = m.read(part.out[0], m.n() - 1);
      std::memcpy(m.landing(type, 1).data, last.data(), size_of(type));
    }
  });
  const auto totals = call.gather<Scalar>([&](Member& m) -> Scalar {
    if (!is_needed(m)) return {};
    m.device.synchronize();
    return m.read(m.landing(type, 1), 0);
  });

  // 2. The scan of each part, after all parts before it.
  call.each([&](Member& m) {
    if (m.n() == 0) return;
    Scalar initial = how.initial;
    for (int rank = 0; rank < m.rank; ++rank)
      if (const Scalar& one = totals[static_cast<std::size_t>(rank)])
        initial = initial ? combine(op, initial, one) : one;
    Request part = m.request;
    part.scalars = scan_scalars.scalars({.inclusive = how.inclusive, .initial = initial});
    m.run(part, call.rung());
  });
  call.finish();
}

}  // namespace upsweep::multi

// reduce on a group: each member reduces its part to one value, and every process combines the values in the order of
// ranks. A reproducible sum combines exact sums, so its bits do not depend on the parts. argmin and argmax compare the
// values that the members' indices stand for.
#include "upsweep/reduce.h"

#include <vector>

#include "base/combine.h"
#include "ladders/reduce/contract.h"
#include "ladders/reduce/exact.h"
#include "multi/group_call.h"

namespace upsweep::multi {
namespace {

using ladders::reduce::is_index;

// A member's contribution: a value, unless its part is empty.
struct Partial {
  bool given;
  Scalar value;
  std::uint64_t index;  // of argmin and argmax
};

void extreme(GroupCall& call) {
  if (call.total() == 0) refuse("reduce", std::string(call.first().operation.name()) + " of an empty array");
  call.each([&](Member& m) {
    const AnyView& out = m.request.out[0];
    require_array("reduce", "the output", {out.type, out.count, out.data}, Type::u64, 1, "an index is u64");
    if (m.n() == 0) return;
    Request part = m.request;
    part.out[0] = m.landing(Type::u64, 1);
    m.run(part, call.rung());
  });
  const auto partials = call.gather<Partial>([&](Member& m) -> Partial {
    if (m.n() == 0) return {};
    m.device.synchronize();
    const auto index = m.read(m.landing(Type::u64, 1), 0).as<std::uint64_t>();
    return {true, m.read(m.request.in[0], index), index};
  });

  const bool finds_least = call.first().operation == Operation(IndexOf::min);
  int best = -1;
  for (int rank = 0; rank < call.size(); ++rank) {
    const Partial& one = partials[static_cast<std::size_t>(rank)];
    if (!one.given) continue;
    const bool beats = best < 0 || visit_any(
                                       one.value.type(),
                                       [&]<class T>(TypeTag<T>) {
                                         const auto a = one.value.as<T>(),
                                                    b = partials[static_cast<std::size_t>(best)].value.as<T>();
                                         return finds_least ? ladders::reduce::ArgMin::beats(a, b)
                                                            : ladders::reduce::ArgMax::beats(a, b);
                                       });
    if (beats) best = rank;
  }
  const std::uint64_t index = call.before(best) + partials[static_cast<std::size_t>(best)].index;
  call.each([&](Member& m) { m.write(m.request.out[0], 0, 1, &index); });
  call.finish();
}

// The reproducible sum: the members' exact sums are added, and rounded once.
template <class T>
void exact_sum(GroupCall& call, const Scalar& initial) {
  using Exact = ladders::reduce::ExactSum<T>;
  constexpr std::size_t words = sizeof(Exact) / sizeof(std::int64_t);
  // A word for the rounded sum, which is not used, and the exact one.
  const auto landing = [](Member& m) { return m.landing(Type::i64, 1 + words); };
  call.each([&](Member& m) {
    if (m.n() == 0) return;
    Request part = m.request;
    part.scalars[0] = {};
    part.out[0] = landing(m);
    part.out[0].type = type_of<T>(), part.out[0].count = 1;
    part.out[1] = part_of(landing(m), 1, words);
    m.run(part, call.rung());
  });
  const auto parts = call.gather<Exact>([&](Member& m) {
    Exact sum{};
    if (m.n() == 0) return sum;
    m.device.synchronize();
    m.read(landing(m), 1, words, &sum);
    return sum;
  });
  Exact total{};
  for (const Exact& part : parts) total.add(part);
  if (initial) total.deposit(initial.as<T>());
  const T rounded = total.round();
  call.each([&](Member& m) { m.write(m.request.out[0], 0, 1, &rounded); });
  call.finish();
}

}  // namespace

void reduce(GroupCall& call) {
  const Reducing how = reduce_scalars.read(call.first().scalars);
  if (how.segment_length)
    throw Error(Code::unsupported, "reduce: a group does not reduce segments", "reduce the rows of each part");
  if (is_index(call.first().operation)) return extreme(call);
  const Op op = call.first().operation.as<Op>();
  const Type result = call.first().out[0].type;
  // Sums of halves are rounded once, at the end.
  const Type type = op == Op::sum && is_half_type(result) ? Type::f32 : result;

  call.each([&](Member& m) { call.require_arrays(m); });
  if (call.rung() == "reproducible" && op == Op::sum && result == call.first().in[0].type) {
    if (result == Type::f32) return exact_sum<float>(call, how.initial);
    if (result == Type::f64) return exact_sum<double>(call, how.initial);
  }

  // 1. Each member's value, without the initial value.
  call.each([&](Member& m) {
    if (m.n() == 0) return;
    Request part = m.request;
    part.scalars[0] = {};
    part.out[0] = m.landing(type, 1);
    m.run(part, call.rung());
  });
  const auto partials = call.gather<Partial>([&](Member& m) -> Partial {
    if (m.n() == 0) return {};
    m.device.synchronize();
    return {true, m.read(m.landing(type, 1), 0), 0};
  });

  // 2. All values, after the initial one.
  Scalar total = how.initial ? convert(how.initial, type) : Scalar();
  for (const Partial& one : partials)
    if (one.given) total = total ? combine(op, total, one.value) : one.value;
  total = convert(total ? total : none_of(op, type), result);
  call.each([&](Member& m) { m.write(m.request.out[0], 0, 1, total.data()); });
  call.finish();
}

}  // namespace upsweep::multi

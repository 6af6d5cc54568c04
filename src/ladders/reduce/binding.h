// Binds a Call to a rung's Args.
#pragma once
#include "base/typed_rung.h"
#include "ladders/reduce/contract.h"

namespace upsweep::ladders::reduce {

inline constexpr ListedOperation operations[] = {{.operation = Op::sum, .typical = true},
                                                 {.operation = Op::product},
                                                 {.operation = Op::min},
                                                 {.operation = Op::max},
                                                 {.operation = IndexOf::min},
                                                 {.operation = IndexOf::max, .typical = true}};

struct Binding : OperatorChoice {
  static constexpr std::string_view primitive = "reduce";
  static constexpr auto& operations = ladders::reduce::operations;
  static constexpr bool takes_halves = true;
  // True if the result may have the elements' type. Integers of 8 and 16 bits have only min, max, argmin and argmax;
  // halves have sums too.
  template <class T, class Op>
  static constexpr bool writes =
      sizeof(T) >= 4 || (!std::is_same_v<Op, Product> && (is_half<T> || !std::is_same_v<Op, Sum>));
  template <class T, class Op>
  static constexpr bool computes_wider = sizeof(T) < 4 && !finds_index<Op>;
  template <class T, class Op>
  static constexpr bool takes = writes<T, Op> || has_wider_sums<T, Op>();
  template <class F>
  static decltype(auto) visit(Operation operation, F&& f) {
    if (operation == Operation(IndexOf::min)) return f(ArgMin{});
    if (operation == Operation(IndexOf::max)) return f(ArgMax{});
    return OperatorChoice::visit(operation, f);
  }
  template <class T, class Op, class Out = T>
  static auto args(const Call& c) {
    const T* const in = c.in[0].as<const T>();
    if constexpr (finds_index<Op>)
      return IndexArgs<T, Op>{c.execution(), in, c.out[0].as<std::uint64_t>(), c.n()};
    else
      return Args<T, Op, Out>{c.execution(),
                              in,
                              c.out[0].as<Out>(),
                              c.n(),
                              Op{},
                              initial_of<Out, Op>(initial(c)),
                              segment_length(c),
                              wants_exact(c) ? c.out[1].as<std::int64_t>() : nullptr};
  }
  // Returns u64 for indices and, unless the caller asks for u32, for sums of u8; otherwise the type that sum_type()
  // returns.
  static Type output_type(const Call& c) {
    const Type type = sum_type(c);
    const bool sums_bytes = type == Type::u8 && c.operation == Operation(Op::sum);
    return sums_bytes || is_index(c.operation) ? Type::u64 : type;
  }
  static Scalar initial(const Call& c) { return reduce_scalars.read(c.scalars).initial; }
  static bool wants_exact(const Call& c) { return c.out[1].count > 0; }
  static std::size_t segment_length(const Call& c) { return reduce_scalars.read(c.scalars).segment_length; }
};

}  // namespace upsweep::ladders::reduce

// select: what an operation selects from in[0], n elements, in their order: out[0], and how many in out[1], one u64.
//
//   find_repeats       every i with in[i] == in[i + 1]: their positions
//   select_if          every element below the parameter `below`
//   select_flagged     every element whose flag is not 0; in[1] is n flags, u8
//   unique             the first element of every run of equal ones
//   run_length_encode  the same, and in out[2] the runs' lengths
//   partition_if       as select_if, and behind them the elements that it leaves: n in all; out[1] counts the selected
//
// out[0] and out[2] have room for n; nothing behind what is selected is written. Positions and lengths are u32, or u64
// where n >= 2^32. No output may overlap an input. Elements are equal as values: 0 and -0 are, NaN is not equal to
// itself, and it is below nothing. Arrays at any alignment of the element.
//
// `below` is the middle of the type's range unless given: 0 where there are negative numbers. Integers take its least
// integer not below it, at most what the type holds.
#pragma once
#include <cmath>

#include "base/platform.h"
#include "base/typed_rung.h"

namespace upsweep::ladders::select {

// ---- operations -----------------------------------------------------------------------------------------------------

template <class T>
struct Below {
  T limit;
  UPSWEEP_HD constexpr bool operator()(T x) const { return x < limit; }
};

struct FindRepeats {
  static constexpr Op op = Op::find_repeats;
};
// One's own operation is a struct of this shape with a predicate of one's own.
struct SelectIf {
  static constexpr Op op = Op::select_if;
  template <class T>
  using Predicate = Below<T>;
};
struct SelectFlagged {
  static constexpr Op op = Op::select_flagged;
};
struct Unique {
  static constexpr Op op = Op::unique;
};
struct RunLengthEncode {
  static constexpr Op op = Op::run_length_encode;
};
struct PartitionIf {
  static constexpr Op op = Op::partition_if;
  template <class T>
  using Predicate = Below<T>;
};

template <class F>
constexpr decltype(auto) visit_operation(Op op, F&& f) {
  switch (op) {
    case Op::find_repeats:
      return f(FindRepeats{});
    case Op::select_flagged:
      return f(SelectFlagged{});
    case Op::unique:
      return f(Unique{});
    case Op::run_length_encode:
      return f(RunLengthEncode{});
    case Op::partition_if:
      return f(PartitionIf{});
    default:
      break;
  }
  return f(SelectIf{});
}

// Whether it looks at an element's value, and whether at its neighbour's.
template <class O>
inline constexpr bool has_predicate = O::op == Op::select_if || O::op == Op::partition_if;
template <class O>
inline constexpr bool sees_neighbour =
    O::op == Op::find_repeats || O::op == Op::unique || O::op == Op::run_length_encode;

// What is written: elements, positions, or both.
template <class O>
inline constexpr bool gives_values = O::op != Op::find_repeats;
template <class O>
inline constexpr bool gives_positions = O::op == Op::find_repeats || O::op == Op::run_length_encode;

namespace detail {
struct NoPredicate {};
template <class T, class O>
struct PredicateOf {
  using type = NoPredicate;
};
template <class T, class O>
requires has_predicate<O>
struct PredicateOf<T, O> {
  using type = typename O::template Predicate<T>;
};
}  // namespace detail

// ---- arguments ------------------------------------------------------------------------------------------------------

// What is selected from, and how: plain data, which kernels take as it is.
template <class T, class O>
struct Input {
  const T* values;            // [n]
  const std::uint8_t* flags;  // [n], select_flagged
  std::size_t n;
  [[no_unique_address]] typename detail::PredicateOf<T, O>::type predicate;

  // Whether the operation selects element i. Of find_repeats, the first of two that are equal; of run_length_encode,
  // the first of a run.
  UPSWEEP_HD bool selects(std::size_t i) const {
    if constexpr (has_predicate<O>)
      return predicate(values[i]);
    else if constexpr (O::op == Op::select_flagged)
      return flags[i] != 0;
    else if constexpr (O::op == Op::find_repeats)
      return i + 1 < n && values[i] == values[i + 1];
    else
      return i == 0 || !(values[i] == values[i - 1]);
  }
};

// Whether positions in n elements, and lengths up to n, take more than 32 bits.
constexpr bool wide(std::size_t n) { return n > 0xffffffffu; }  // a run may be n long
constexpr Type position_type(std::size_t n) { return wide(n) ? Type::u64 : Type::u32; }

// An array of positions, or of lengths.
struct Positions {
  void* array;  // of position_type(n)
  bool wide;
  UPSWEEP_HD void put(std::size_t i, std::size_t position) const {
    if (wide)
      static_cast<std::uint64_t*>(array)[i] = position;
    else
      static_cast<std::uint32_t*>(array)[i] = static_cast<std::uint32_t>(position);
  }
};

template <class T>
struct Output {
  T* values;            // [n], null for find_repeats
  Positions positions;  // [n], of find_repeats; the lengths of run_length_encode
  std::uint64_t* count;
};

template <class T, class O>
struct Args {
  Input<T, O> in;
  Output<T> out;
  const Params& params;
  Workspace* workspace;
  Stream stream;
};

template <class T>
constexpr T middle_of_range() {
  if constexpr (std::is_unsigned_v<T>)
    return static_cast<T>(T{1} << (8 * sizeof(T) - 1));
  else
    return T{0};
}

// `below` as the element's type.
template <class T>
T limit_of(const Params& params) {
  const double below = params.get("below", static_cast<double>(middle_of_range<T>()));
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(below);
  } else {
    // As doubles: the type's lowest is one exactly, its maximum + 1 too, whatever the width.
    constexpr double lowest = static_cast<double>(std::numeric_limits<T>::lowest());
    const double beyond = std::is_signed_v<T> ? -lowest : 2 * static_cast<double>(middle_of_range<T>());
    const double least = std::ceil(below);
    return !(least > lowest) ? std::numeric_limits<T>::lowest()
           : least < beyond  ? static_cast<T>(least)
                             : std::numeric_limits<T>::max();
  }
}

struct Contract {
  static constexpr std::string_view primitive = "select";
  template <class T, class O>
  static constexpr bool takes = true;
  template <class F>
  static RunFn visit(Op op, F&& f) {
    return is_operator(op) ? nullptr : visit_operation(op, f);
  }
  template <class T, class O>
  static Args<T, O> args(const Call& c) {
    Args<T, O> a{.in{static_cast<const T*>(c.in[0]), static_cast<const std::uint8_t*>(c.in[1]), c.n, {}},
                 .out{nullptr, {nullptr, wide(c.n)}, static_cast<std::uint64_t*>(c.out[1])},
                 .params = c.params,
                 .workspace = c.workspace,
                 .stream = c.stream};
    if constexpr (has_predicate<O>) a.in.predicate = {limit_of<T>(c.params)};
    if constexpr (O::op == Op::find_repeats)
      a.out.positions.array = c.out[0];
    else
      a.out.values = static_cast<T*>(c.out[0]);
    if constexpr (O::op == Op::run_length_encode) a.out.positions.array = c.out[2];
    return a;
  }
};

// The Rung of an implementation struct R: its name, R::story, and R::run<T, O>(Args<T, O>) of type and operation.
template <class R>
constexpr Rung make_rung(std::string_view name, Backend backend) {
  return make_typed_rung<Contract, R>(name, backend);
}

}  // namespace upsweep::ladders::select

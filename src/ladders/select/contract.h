// select: what an operation selects from in[0], n elements, in their order: out[0], and how many in out[1], one u64.
//
//   find_repeats       every i with in[i] == in[i + 1]: their positions
//   select_if          every element below the limit, scalars[0], which is of the elements' type
//   select_flagged     every element whose flag is not 0; in[1] is n flags, u8
//   unique             the first element of every run of equal ones
//   run_length_encode  the same, and in out[2] the runs' lengths
//   partition_if       as select_if, and behind them the elements that it leaves: n in all; out[1] counts the selected
//
// out[0] and out[2] have room for n; nothing behind what is selected is written. Positions and lengths are u32, or u64
// where n >= 2^32. No output may overlap an input. Elements are equal as values: 0 and -0 are, NaN is not equal to
// itself, and it is below nothing. Arrays at any alignment of the element.
#pragma once
#include <cstdint>
#include <string_view>

#include "base/typed_rung.h"
#include "base/workspace.h"
#include "upsweep/operations.h"

namespace upsweep::ladders::select {

// ---- operations -----------------------------------------------------------------------------------------------------

// What a selection reads beside the element itself, and what it writes beside the count.
struct Traits {
  bool predicate = false;  // a limit, or a predicate of the caller's
  bool flags = false;      // in[1]
  bool neighbour = false;  // the element to the left or to the right
  bool starts_runs = false;
  bool values = true, positions = false, lengths = false;
  bool rest = false;  // the elements that are not selected, after those that are
};
constexpr Traits traits(Selection s) {
  switch (s) {
    case Selection::find_repeats:
      return {.neighbour = true, .values = false, .positions = true};
    case Selection::select_if:
      return {.predicate = true};
    case Selection::select_flagged:
      return {.flags = true};
    case Selection::unique:
      return {.neighbour = true, .starts_runs = true};
    case Selection::run_length_encode:
      return {.neighbour = true, .starts_runs = true, .lengths = true};
    case Selection::partition_if:
      break;
  }
  return {.predicate = true, .rest = true};
}

template <class T>
struct Below {
  T limit;
  UPSWEEP_HD constexpr bool operator()(T x) const { return x < limit; }
};

// One struct a selection. A caller's predicate comes in a struct of the shape of SelectIf or PartitionIf.
template <Selection s>
struct Plain {
  static constexpr Selection selection = s;
};
template <Selection s>
struct ByPredicate {
  static constexpr Selection selection = s;
  template <class T>
  using Predicate = Below<T>;
};
using FindRepeats = Plain<Selection::find_repeats>;
using SelectIf = ByPredicate<Selection::select_if>;
using SelectFlagged = Plain<Selection::select_flagged>;
using Unique = Plain<Selection::unique>;
using RunLengthEncode = Plain<Selection::run_length_encode>;
using PartitionIf = ByPredicate<Selection::partition_if>;

template <class F>
constexpr decltype(auto) visit_selection(Selection selection, F&& f) {
  switch (selection) {
    case Selection::find_repeats:
      return f(FindRepeats{});
    case Selection::select_flagged:
      return f(SelectFlagged{});
    case Selection::unique:
      return f(Unique{});
    case Selection::run_length_encode:
      return f(RunLengthEncode{});
    case Selection::partition_if:
      return f(PartitionIf{});
    case Selection::select_if:
      break;
  }
  return f(SelectIf{});
}

template <class O>
inline constexpr bool has_predicate = traits(O::selection).predicate;
template <class O>
inline constexpr bool reads_flags = traits(O::selection).flags;
template <class O>
inline constexpr bool sees_neighbour = traits(O::selection).neighbour;
template <class O>
inline constexpr bool starts_runs = traits(O::selection).starts_runs;
template <class O>
inline constexpr bool writes_values = traits(O::selection).values;
template <class O>
inline constexpr bool writes_positions = traits(O::selection).positions;
template <class O>
inline constexpr bool writes_lengths = traits(O::selection).lengths;
// The positions of what is selected, to be written or subtracted.
template <class O>
inline constexpr bool needs_positions = writes_positions<O> || writes_lengths<O>;
template <class O>
inline constexpr bool writes_rest = traits(O::selection).rest;

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
    else if constexpr (reads_flags<O>)
      return flags[i] != 0;
    else if constexpr (writes_positions<O>)
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
  const Tuning& tuning;
  Workspace* workspace;
  Stream stream;
};

struct Binding {
  static constexpr std::string_view primitive = "select";
  template <class T, class O>
  static constexpr bool takes = true;
  template <class F>
  static RunFn visit(Operation operation, F&& f) {
    return operation ? visit_selection(operation.as<Selection>(), f) : nullptr;
  }
  template <class T, class O>
  static Args<T, O> args(const Call& c) {
    Args<T, O> a{.in{c.in[0].as<const T>(), c.in[1].as<const std::uint8_t>(), c.n(), {}},
                 .out{nullptr, {nullptr, wide(c.n())}, c.out[1].as<std::uint64_t>()},
                 .tuning = c.tuning,
                 .workspace = c.workspace,
                 .stream = c.stream};
    if constexpr (has_predicate<O>) a.in.predicate = {c.scalars[0].as<T>()};
    if constexpr (writes_values<O>) a.out.values = c.out[0].as<T>();
    if constexpr (writes_positions<O>) a.out.positions.array = c.out[0].data;
    if constexpr (writes_lengths<O>) a.out.positions.array = c.out[2].data;
    return a;
  }
};

// The Rung of an implementation struct R: its name, R::story, and R::run<T, O>(Args<T, O>) of type and operation.
template <class R>
constexpr Rung make_rung(std::string_view name, Backend backend) {
  return make_typed_rung<Binding, R>(name, backend);
}

}  // namespace upsweep::ladders::select

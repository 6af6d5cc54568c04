// select: out[0] = the selected elements of in[0], which has n elements, in order; out[1] = their number, one u64.
//
//   find_repeats       every position i with in[i] == in[i + 1]
//   nonzero            every position i with in[i] != 0
//   select_if          every element below the limit, scalars[0], which has the elements' type
//   select_flagged     every element whose flag is nonzero; in[1] holds n flags, u8
//   unique             the first element of every run of equal elements
//   run_length_encode  as unique, with the runs' lengths in out[2]
//   partition_if       as select_if, followed by the other elements: n in all; out[1] counts the selected ones
//
// out[0] and out[2] have space for n elements; elements past the selected ones are not touched. Positions and lengths
// have any integer type of 4 or 8 bytes that can hold n. No output may overlap an input. Elements are compared by
// value: 0 equals -0; NaN equals neither itself nor 0 and is below no limit. Arrays need only natural alignment.
#pragma once
#include "base/implementation.h"
#include "upsweep/parameters/select.h"

namespace upsweep::ladders::select {

// ---- operations -----------------------------------------------------------------------------------------------------

// The properties of a selection: what it reads besides the elements, and what it writes besides the count.
struct Traits {
  bool predicate = false;  // a limit, or the caller's predicate
  bool flags = false;      // in[1]
  bool neighbour = false;  // the element to the left or to the right
  bool starts_runs = false;
  bool values = true, positions = false, lengths = false;
  bool rest = false;  // the elements that are not selected, after the selected ones
};
constexpr Traits traits(Selection s) {
  switch (s) {
    case Selection::find_repeats:
      return {.neighbour = true, .values = false, .positions = true};
    case Selection::nonzero:
      return {.values = false, .positions = true};
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

// The operation of a call. A caller's predicate is wrapped in a struct with the same members.
template <Selection s>
struct Select {
  static constexpr Selection operation = s;
  template <class T>
  using Predicate = Below<T>;
};

template <class O>
inline constexpr bool has_predicate = traits(O::operation).predicate;
template <class O>
inline constexpr bool reads_flags = traits(O::operation).flags;
template <class O>
inline constexpr bool sees_neighbour = traits(O::operation).neighbour;
template <class O>
inline constexpr bool starts_runs = traits(O::operation).starts_runs;
// True if each element is compared with the next one; for runs, it is compared with the previous one.
template <class O>
inline constexpr bool sees_next = sees_neighbour<O> && !starts_runs<O>;
template <class O>
inline constexpr bool compares_with_zero = !has_predicate<O> && !reads_flags<O> && !sees_neighbour<O>;
template <class O>
inline constexpr bool writes_values = traits(O::operation).values;
template <class O>
inline constexpr bool writes_positions = traits(O::operation).positions;
template <class O>
inline constexpr bool writes_lengths = traits(O::operation).lengths;
// True if the positions of the selected elements are written, or subtracted to give lengths.
template <class O>
inline constexpr bool needs_positions = writes_positions<O> || writes_lengths<O>;
template <class O>
inline constexpr bool writes_rest = traits(O::operation).rest;

struct NoPredicate {};
template <class T, class O>
using PredicateOf = std::conditional_t<has_predicate<O>, typename O::template Predicate<T>, NoPredicate>;

// ---- arguments ------------------------------------------------------------------------------------------------------

// The elements and the condition: plain data, passed to kernels by value.
template <class T, class O>
struct Input {
  const T* values;            // [n]
  const std::uint8_t* flags;  // [n], select_flagged
  std::size_t n;
  [[no_unique_address]] PredicateOf<T, O> predicate;

  // True if the operation selects element i: for find_repeats, the first of two equal neighbours; for unique and
  // run_length_encode, the first of a run.
  UPSWEEP_HD bool selects(std::size_t i) const {
    if constexpr (has_predicate<O>)
      return predicate(values[i]);
    else if constexpr (reads_flags<O>)
      return flags[i] != 0;
    else if constexpr (compares_with_zero<O>)
      return values[i] != T{};
    else if constexpr (sees_next<O>)
      return i + 1 < n && values[i] == values[i + 1];
    else
      return i == 0 || !(values[i] == values[i - 1]);
  }
};

// An array of positions, or of lengths.
struct Positions {
  void* array;  // u64 or i64 if wide, else u32 or i32
  bool wide;
  // Calls f with the array as unsigned integers of its width, so that a loop in f tests the width only once.
  template <class F>
  UPSWEEP_HD decltype(auto) visit(F&& f) const {
    if (wide) return f(static_cast<std::uint64_t*>(array));
    return f(static_cast<std::uint32_t*>(array));
  }
  UPSWEEP_HD void put(std::size_t i, std::size_t position) const {
    visit([=]<class P>(P* positions) { positions[i] = static_cast<P>(position); });
  }
};

template <class T>
struct Output {
  T* values;            // [n], null for find_repeats and nonzero
  Positions positions;  // [n], for find_repeats and nonzero; lengths for run_length_encode
  std::uint64_t* count;
};

template <class T, class O>
struct Args : Execution {
  Input<T, O> in;
  Output<T> out;
};

}  // namespace upsweep::ladders::select

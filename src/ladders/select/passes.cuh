// Operations that take more than one pass.
#pragma once
#include "ladders/select/contract.h"

namespace upsweep::ladders::select {

inline constexpr Status no_memory{Code::out_of_memory, 0, "no memory for the ranks"};

// The output of one launch.
template <class T>
struct Target {
  Output<T> out;
  const std::uint64_t* written;  // the number of values already written; null if none
  unsigned* heads;               // [n], where the runs of run_length_encode begin
};

// The two selections of partition_if: Selects selects the elements that satisfy the predicate, Rejects the others.
template <class O>
struct Rejects : O {
  static constexpr Selection operation = Selection::select_if;
  template <class T>
  struct Predicate {
    typename O::template Predicate<T> selects;
    UPSWEEP_HD bool operator()(T x) const { return !selects(x); }
  };
};
template <class O>
inline constexpr bool is_rejects = false;
template <class O>
inline constexpr bool is_rejects<Rejects<O>> = true;
template <class O>
struct Selects : O {
  static constexpr Selection operation = Selection::select_if;
};

// Runs the operation in one or two calls of pass(input, target): partition_if is two selections, the second appended to
// the first.
template <class T, class O, class F>
Status by_passes(const Args<T, O>& a, F pass) {
  if constexpr (writes_rest<O>) {
    const Input<T, Selects<O>> selected{a.in.values, nullptr, a.in.n, a.in.predicate};
    const Input<T, Rejects<O>> rejected{a.in.values, nullptr, a.in.n, {a.in.predicate}};
    if (Status s = pass(selected, Target<T>{a.out, nullptr, nullptr}); !s) return s;
    return pass(rejected, Target<T>{{a.out.values, {}, nullptr}, a.out.count, nullptr});
  } else {
    return pass(a.in, Target<T>{a.out, nullptr, nullptr});
  }
}

}  // namespace upsweep::ladders::select

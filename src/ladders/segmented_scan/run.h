// Segmented sums as pairs with an associative operator, so that any scan can compute them.
#pragma once
#include "base/unsigned_as.h"
#include "upsweep/operators.h"

namespace upsweep::ladders::segmented_scan {

// A run of elements: whether it contains a head, and op over its elements from the last head on.
template <class T>
struct Run {
  T value;
  UnsignedAs<T> head;  // 0 or 1; as wide as the value, so that the pair has no padding, which would be shuffled too
};

// Operator that joins two adjacent runs; associative, but not commutative.
template <class Op>
struct Joined {
  Op op;
  template <class R>
  UPSWEEP_HD static constexpr R neutral() {
    return {Op::template neutral<decltype(R::value)>(), 0};
  }
  template <class T>
  UPSWEEP_HD constexpr Run<T> operator()(Run<T> left, Run<T> right) const {
    return {right.head ? right.value : op(left.value, right.value), static_cast<UnsignedAs<T>>(left.head | right.head)};
  }
};

}  // namespace upsweep::ladders::segmented_scan

// Fields of a bucket's number: more buckets than a pass has are sorted by the lower field, then stably by the upper
// one.
#pragma once
#include <bit>

#include "ladders/partition/contract.h"

namespace upsweep::ladders::partition {

// A field of a bucket's number, of the buckets of O.
template <class O>
struct FieldOf {};

template <class T, class O>
struct Buckets<T, FieldOf<O>> {
  Buckets<T, O> all;
  unsigned first_bit, mask;  // of the field
  unsigned count;            // of its values
  static constexpr bool is_field = true;
  __device__ unsigned operator()(T key) const { return all(key) >> first_bit & mask; }
};

// Where a bucket's number is cut in two: the lower field has `lower_bits`, the upper one those above them.
struct Cut {
  unsigned lower_bits, lower_values, upper_values;
  explicit Cut(unsigned buckets)
      : lower_bits(static_cast<unsigned>(std::bit_width(buckets - 1)) / 2),
        lower_values(1u << lower_bits),
        upper_values(((buckets - 1) >> lower_bits) + 1) {}

  template <class T, class O>
  auto lower(const Buckets<T, O>& buckets) const {
    return field(buckets, 0, lower_values);
  }
  template <class T, class O>
  auto upper(const Buckets<T, O>& buckets) const {
    return field(buckets, lower_bits, upper_values);
  }

 private:
  template <class T, class O>
  static auto field(const Buckets<T, O>& buckets, unsigned first_bit, unsigned values) {
    if constexpr (std::is_same_v<O, By<Bucketing::digit>>)
      return Buckets<T, O>{buckets.first_bit + first_bit, values};
    else
      return Buckets<T, FieldOf<O>>{buckets, first_bit, std::bit_ceil(values) - 1, values};
  }
};

}  // namespace upsweep::ladders::partition

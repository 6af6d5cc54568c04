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

// The fields of a digit, the lowest first: as few as there can be of at most 6 bits, and as even as they can be.
template <class T, class O>
struct Fields {
  static constexpr unsigned most_field_bits = 6;
  Buckets<T, O> field[(most_bits - 1) / most_field_bits + 1];
  unsigned count;

  explicit Fields(const Buckets<T, O>& digit) {
    unsigned bits = static_cast<unsigned>(std::bit_width(digit.count - 1)), first_bit = digit.first_bit;
    count = static_cast<unsigned>(ceil_div(bits, most_field_bits));
    for (unsigned f = 0; f < count; ++f) {
      const unsigned own = static_cast<unsigned>(ceil_div(bits, count - f));
      field[f] = {first_bit, 1u << own};
      first_bit += own, bits -= own;
    }
  }
};

}  // namespace upsweep::ladders::partition

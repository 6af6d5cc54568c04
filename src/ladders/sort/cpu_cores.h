// Sorts on one or several cores: passes from the most significant digit down until buckets fit in a core's cache, where
// they are sorted from the least significant digit up.
#pragma once
#include <cstddef>

#include "ladders/sort/contract.h"
#include "ladders/sort/cpu_simd.h"

namespace upsweep::ladders::sort {

// Returns the arrays of a call, and the loops for them.
template <class T, class O>
Caller caller_of(const Args<T, O>& a) {
  return {.keys = a.keys,
          .values = a.values.in,
          .out_keys = a.out,
          .out_values = a.values.out,
          .key_bytes = sizeof(T),
          .value_bytes = a.values.bytes,
          .flip = a.order.total().flip,
          .negative = a.order.total().negative,
          .loops = &simd_loops(sizeof(T), a.values.bytes)};
}

// Size limits of the passes.
struct Limits {
  std::size_t leaf;      // target elements per bucket
  std::size_t most;      // maximum elements that one core sorts in its cache
  std::size_t alone;     // maximum elements for one core alone
  unsigned widest = 11;  // maximum bits per pass, up to widest_digit: 2048 lines of 64 bytes fit in a block
};
Limits limits_for(const Caller& caller);

// Sorts n elements of the caller's arrays by the bits [first_bit, first_bit + bits) of their keys' numbers; stable.
Status sort_on_cores(const Caller& caller, std::size_t n, unsigned first_bit, unsigned bits, int threads,
                     const Limits& limits, const Execution& how);

}  // namespace upsweep::ladders::sort

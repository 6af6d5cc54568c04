// Named inputs for checks and benchmarks. Element i is a pure function of (name, type, n, seed, i), so any number of
// threads can generate any part independently, with the same values.
//
// name                  integers                                     floats
// uniform               the type's whole range                       [-1, 1), multiples of 2^-23 (f32), 2^-52 (f64)
// constant              1                                            1
// all_same              one value of `uniform`, drawn by the seed    likewise
// two_valued            x or ~x by a fair coin, x drawn by the seed  x or -x - 2^-23 (2^-52), likewise
// sorted                ascending over the whole range: one element  ascending over [-1, 1), likewise
//                       at random in each of n equal slices
// reversed              `sorted` from the back                       likewise
// zipf                  k in [0, K) with probability ~ 1/(k+1);      likewise
//                       K = 2^16, or the type's maximum + 1 if less
// random_walk           steps uniform in -16..16, wrapping           steps uniform in [-1, 1), multiples of 2^-23
// permutation           0..n-1 once each, in random order; taken     likewise, rounded to the type: exact below 2^24
//                       modulo 2^bits by narrow types                in f32
// alternating_extremes  maximum, lowest, maximum, ...                largest finite, its negative, ...
// near_one              odd, otherwise as `uniform`                  +-(1 + d), d uniform in [-2^-k, 2^-k), k >= 1 and
//                                                                    2^k > n / 128, so that products of any of the
//                                                                    elements neither overflow nor underflow
// cancellation          -                                            2^24..2^72 in magnitude (f64: 2^53..2^159), each
//                                                                    cancelled by its mirror from the other end; every
//                                                                    16th pair is from `uniform`, and its sum remains
// denormals             -                                            subnormal, of either sign, never zero
// nan                   -                                            `uniform` with one NaN and about 1 in 1024 more
// inf                   -                                            `uniform` with one infinity and about 1 in 1024
//                                                                    more, of either sign
// wide                  -                                            random sign, mantissa and exponent, including
//                                                                    subnormals but not the top 34 binades, so that no
//                                                                    sum of up to 2^34 elements overflows
// signed_zeros          -                                            +0 or -0 by a fair coin; -0 in the first and the
//                                                                    last eighth
// minus_zeros           -                                            -0
// specials              -                                            of either sign: 1/8 zeros, 1/8 infinities, 1/8
//                                                                    default NaNs, 1/8 NaNs of any payload, 1/8
//                                                                    subnormals; the rest `uniform`
//
// All inputs have random access except random_walk: generating a part computes the whole walk up to the part's end.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "upsweep/types.h"

namespace upsweep {

// Returns the inputs that exist for this type, in the order of the table.
std::vector<std::string> input_names(Type type);

// Throws Error(invalid_argument), with the names in the hint, unless `name` is an input for this type.
void require_input(std::string_view name, Type type);

// Generates elements [first, first + out.size() / size_of(type)) of the input of n elements. `out` is aligned to the
// element and holds whole elements. Throws Error(invalid_argument) for an unknown name, an incomplete element or a part
// past n.
void fill_input_part(std::string_view name, Type type, std::size_t n, std::uint64_t seed, std::size_t first,
                     std::span<std::byte> out);

// Generates the whole input, out[0..n), on all cores.
void fill_input(std::string_view name, Type type, std::size_t n, std::uint64_t seed, void* out);

template <class T>
std::vector<T> make_input(std::string_view name, std::size_t n, std::uint64_t seed) {
  std::vector<T> values(n);
  fill_input(name, type_of<T>(), n, seed, values.data());
  return values;
}

}  // namespace upsweep

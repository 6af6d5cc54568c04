// The package's functions. `x`, `condition` and `out` are arrays of any library; a `dtype` is a name or None; an empty
// `rung` selects the default.
#pragma once
#include <nanobind/nanobind.h>

namespace upsweep::python {

namespace nb = nanobind;

// Returns true if `axis` is the last of two or more axes of x, so that a function works on each row. Throws ValueError
// if `axis` is neither None nor the last axis.
bool has_rows(nb::handle x, nb::handle axis);

nb::object sum(nb::handle x, nb::handle axis, nb::handle dtype, nb::handle initial, const char* rung);
nb::object product(nb::handle x, nb::handle axis, nb::handle dtype, nb::handle initial, const char* rung);
nb::object extreme(nb::handle x, nb::handle axis, const char* which, const char* rung);
// Returns the index of the first smallest or largest element: `which` is "argmin" or "argmax".
nb::object position_of_extreme(nb::handle x, const char* which, const char* rung);
nb::object cumulative_sum(nb::handle x, nb::handle dtype, bool is_exclusive, nb::handle initial, nb::handle out,
                          const char* rung);
nb::object cumulative_product(nb::handle x, nb::handle dtype, bool is_exclusive, nb::handle initial, nb::handle out,
                              const char* rung);
// `kind` says what the heads are: "flags", "keys" or "offsets".
nb::object segmented_scan(nb::handle x, nb::handle heads, const char* kind, const char* operation, nb::handle dtype,
                          bool is_exclusive, nb::handle initial, nb::handle out, const char* rung);
// Returns cumulative sums or extremes along the last axis of `x`, which has one or more.
nb::object scan_of_rows(nb::handle x, const char* operation, nb::handle dtype, bool is_exclusive, nb::handle initial,
                        const char* rung);
nb::object sort(nb::handle x, const char* order, nb::handle out, const char* rung);
nb::object argsort(nb::handle x, const char* order, nb::handle out, const char* rung);
nb::tuple sort_by_key(nb::handle keys, nb::handle values, const char* order, const char* rung);
// Returns keys, offsets, and values or None.
nb::tuple partition_by_digit(nb::handle keys, nb::handle values, int first_bit, int bits, const char* rung);
nb::tuple partition_by_splitters(nb::handle keys, nb::handle values, nb::handle splitters, const char* rung);
nb::object compress(nb::handle condition, nb::handle x, const char* rung);
nb::object find_repeats(nb::handle x, const char* rung);
nb::object nonzero(nb::handle x, const char* rung);
nb::object unique_consecutive(nb::handle x, const char* rung);
nb::tuple run_length_encode(nb::handle x, const char* rung);
// Returns the counts, and the edges as a NumPy array. `range` is a pair, or None for the range of the samples.
nb::tuple histogram(nb::handle x, std::size_t bins, nb::handle range, nb::handle dtype, const char* rung);
// Returns only the counts. `edges` is a NumPy array.
nb::object histogram_of_edges(nb::handle x, nb::handle edges, nb::handle dtype, const char* rung);
// Returns None if the counts need more bins than the library has. `length` is the number of counts, or None for one
// more than the largest sample.
nb::object bincount(nb::handle x, std::size_t minlength, nb::handle length, nb::handle dtype, const char* rung);
// Returns the distinct integers in ascending order, and how often each occurs. Returns None for floats, for arrays on a
// GPU, and where sorting is faster than counting: for few integers, or integers of a wide range.
nb::object counted_values(nb::handle x);
nb::object saxpy(nb::handle a, nb::handle x, nb::handle y, nb::handle out, const char* rung);
// `picture` holds the contract's scalars by name. Returns an array of shape (height, width, channels), with 3 or 4
// channels.
nb::object render(nb::handle circles, nb::dict picture, const char* rung);

}  // namespace upsweep::python

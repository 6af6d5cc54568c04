#include "functions.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "call.h"

namespace upsweep::python {
namespace {

bool are_rows(const Array& x, nb::handle axis) {
  if (axis.is_none()) return false;
  const auto given = nb::cast<std::int64_t>(axis);
  if (given != -1 && given != x.ndim - 1)
    throw nb::value_error(("axis is " + std::to_string(given) + ", not the last of " + std::to_string(x.ndim)).c_str());
  return x.ndim > 1;
}

// Returns the type of a sum or product: `dtype` if there is one. Otherwise, floats keep their type, and integers get
// the library's default width, so that sums do not wrap at the elements' width.
const Element& sum_type(const Array& a, nb::handle dtype) {
  if (dtype.is_none()) {
    if (a.element->is_float()) return *a.element;
    return a.element->is_unsigned() ? unsigned_of(a.library->integer_bits) : a.integer();
  }
  const Element& asked = element_of(nb::cast<const char*>(dtype));
  if (asked.code == dlpack::boolean) throw nb::type_error("dtype is bool, which is no type of a sum");
  return asked;
}

// Returns true if a sum of `terms` can be written as `sum` without converting the terms.
bool is_widened(upsweep_type terms, upsweep_type sum) {
  switch (terms) {
    case UPSWEEP_U8:
      return sum == UPSWEEP_U32 || sum == UPSWEEP_U64;
    case UPSWEEP_U32:
      return sum == UPSWEEP_U64;
    case UPSWEEP_I32:
      return sum == UPSWEEP_I64;
    case UPSWEEP_F32:
      return sum == UPSWEEP_F64;
    case UPSWEEP_F16:
    case UPSWEEP_BF16:
      return sum == UPSWEEP_F32;
    default:
      return false;
  }
}

// The terms of a sum of type `wanted`, and the type in which it is computed: `wanted`, or for signed sums of bytes the
// unsigned type of the same width, whose sums have the same bits.
struct Terms {
  Array array;
  const Element& computed;

  Terms(const Array& a, const Element& wanted)
      : Terms(a, wanted, a.element->type == UPSWEEP_U8 && wanted.is_signed() ? unsigned_of(wanted.bits) : wanted) {}

  // Adds the initial value to a call. If a signed sum is computed as unsigned, the value is reduced modulo 2^bits.
  void add_initial(Call& call, nb::handle initial, const Element& wanted) const {
    if (initial.is_none()) return;
    if (&computed == &wanted) {
      call.scalar("initial", initial);
      return;
    }
    const nb::object index = nb::steal(PyNumber_Index(initial.ptr()));
    if (!index) throw nb::python_error();
    call.scalar("initial", index.attr("__and__")(nb::int_(~std::uint64_t{0} >> (64 - wanted.bits))));
  }

 private:
  Terms(const Array& a, const Element& wanted, const Element& unsigned_sum)
      : array(is_computed(a, unsigned_sum) ? a : a.cast(wanted)),
        computed(is_computed(a, unsigned_sum) ? unsigned_sum : wanted) {}

  static bool is_computed(const Array& a, const Element& sum) {
    return a.element->type == sum.type || is_widened(a.element->type, sum.type);
  }
};

// Returns a new array for the totals: one element, or one per row along the last axis.
Array totals_of(const Array& a, bool by_rows, const Element& of) { return by_rows ? a.one_per_row(of) : a.scalar(of); }
nb::object result_of(const Array& totals, bool by_rows) { return by_rows ? totals.object() : totals.item(); }

Call reduction_of(const Array& a, bool by_rows, const char* operation, const char* rung) {
  Call call("reduce", operation, rung);
  if (by_rows) call.integer("segment_length", a.width());
  return call;
}

nb::object reduced(const Array& a, bool by_rows, const char* operation, const Element& wanted, nb::handle initial,
                   const char* rung) {
  if (by_rows && a.size == 0) {  // no rows, or rows of no elements
    const nb::object total =
        initial.is_none() ? nb::int_(operation == std::string_view("product")) : nb::borrow(initial);
    const nb::object shape = nb::object(a.shape_tuple())[nb::slice(a.ndim - 1)];
    return a.upload(nb::module_::import_("numpy").attr("full")(shape, total)).cast(wanted).object();
  }
  // Integers below 32 bits are computed in 32 bits, which wrap to the same result. Halves are computed as float32,
  // except for sums of halves of the result's type.
  const bool sums_halves = wanted.is_half() && a.element == &wanted && operation == std::string_view("sum");
  if (wanted.bits < 32 && !sums_halves) {
    const Element& wide = wanted.is_half() ? float_of(32) : wanted.is_signed() ? signed_of(32) : unsigned_of(32);
    const Array terms = a.cast(wide), out = totals_of(terms, by_rows, wide);
    Call call = reduction_of(a, by_rows, operation, rung);
    if (!initial.is_none()) call.scalar("initial", initial);
    call.in(terms).out(out).run();
    return result_of(out.cast(wanted), by_rows);
  }
  const Terms terms(a, wanted);
  const Array out = totals_of(a, by_rows, wanted), written = out.view(terms.computed);
  Call call = reduction_of(a, by_rows, operation, rung);
  terms.add_initial(call, initial, wanted);
  call.in(terms.array).out(written).run();
  return result_of(out, by_rows);
}

}  // namespace

bool has_rows(nb::handle x, nb::handle axis) { return are_rows(array_of(x), axis); }

nb::object sum(nb::handle x, nb::handle axis, nb::handle dtype, nb::handle initial, const char* rung) {
  const Array a = array_of(x);
  return reduced(a, are_rows(a, axis), "sum", sum_type(a, dtype), initial, rung);
}

nb::object product(nb::handle x, nb::handle axis, nb::handle dtype, nb::handle initial, const char* rung) {
  const Array a = array_of(x);
  const Element& wanted = sum_type(a, dtype);
  return reduced(a.cast(wanted), are_rows(a, axis), "product", wanted, initial, rung);
}

namespace {

void require_elements(const Array& a, const char* which, bool by_rows = false) {
  if (by_rows && a.width() == 0)
    throw nb::value_error((std::string("the rows of x are empty, and have no ") + which).c_str());
  if (!by_rows && a.size == 0) throw nb::value_error((std::string("x is empty, and has no ") + which).c_str());
}

}  // namespace

nb::object extreme(nb::handle x, nb::handle axis, const char* which, const char* rung) {
  const Array a = array_of(x);
  const bool by_rows = are_rows(a, axis);
  require_elements(a, which, by_rows);
  const Array out = totals_of(a, by_rows, *a.element);
  reduction_of(a, by_rows, which, rung).in(a).out(out).run();
  return result_of(out, by_rows);
}

nb::object position_of_extreme(nb::handle x, const char* which, const char* rung) {
  const Array a = array_of(x);
  require_elements(a, which);
  Call call("reduce", which, rung);
  call.in(a);
  if (a.library->integer_bits == 64) {
    const Array out = a.scalar(a.integer()), written = out.view(unsigned_of(64));
    call.out(written).run();
    return out.item();
  }
  if (a.is_staged) {  // XLA programs have 64-bit integers, whatever JAX's default is
    const Array out = a.scalar(unsigned_of(64));
    call.out(out).run();
    return out.cast(a.integer()).object();
  }
  std::uint64_t position = 0;
  call.host_out(position).run();
  const Array narrow = numpy_array(1, a.integer());
  *static_cast<std::int32_t*>(narrow.data) = static_cast<std::int32_t>(position);
  return a.upload(narrow.object().attr("reshape")(nb::tuple())).object();
}

namespace {

// Converts a result to a narrower type. Writes it to `out` unless that is None.
nb::object narrowed(nb::handle wide, const Element& narrow, nb::handle out, const Array& like) {
  const Array result = array_of(wide);
  if (out.is_none()) return result.cast(narrow).object();
  const Array given = output_of(out, like, result.size, narrow);
  given.assign(result);
  return given.object();
}

}  // namespace

nb::object cumulative_sum(nb::handle x, nb::handle dtype, bool is_exclusive, nb::handle initial, nb::handle out,
                          const char* rung) {
  const Array a = vector_of(x);
  const Element& wanted = sum_type(a, dtype);
  if (wanted.is_half() && a.element != &wanted)
    return narrowed(cumulative_sum(a.object(), nb::str("float32"), is_exclusive, initial, nb::none(), rung), wanted,
                    out, a);
  const Array result = output_of(out, a, a.size, wanted);
  const Terms terms(a, wanted);
  const Array written = result.view(terms.computed);
  Call call("scan", "sum", rung);
  terms.add_initial(call, initial, wanted);
  call.in(terms.array).out(written).flag("inclusive", !is_exclusive).run();
  return result.object();
}

nb::object cumulative_product(nb::handle x, nb::handle dtype, bool is_exclusive, nb::handle initial, nb::handle out,
                              const char* rung) {
  const Array a = vector_of(x);
  const Element& wanted = sum_type(a, dtype);
  // Integers below 32 bits are computed in 32 bits, which wrap to the same result, and halves as float32.
  if (wanted.bits < 32) {
    const char* const wide = wanted.is_half() ? "float32" : wanted.is_signed() ? "int32" : "uint32";
    return narrowed(cumulative_product(x, nb::str(wide), is_exclusive, initial, nb::none(), rung), wanted, out, a);
  }
  const Array result = output_of(out, a, a.size, wanted), factors = a.cast(wanted);
  Call call("scan", "product", rung);
  if (!initial.is_none()) call.scalar("initial", initial);
  call.in(factors).out(result).flag("inclusive", !is_exclusive).run();
  return result.object();
}

namespace {

// Returns the heads as the unsigned type of their kind. Throws TypeError for other types.
Array heads_of(nb::handle heads, const std::string& kind) {
  const Array a = vector_of(heads, kind.c_str());
  const upsweep_type type = a.element->type;
  if (kind == "flags" && type == UPSWEEP_U8) return a;
  if (kind == "keys" && (type == UPSWEEP_I32 || type == UPSWEEP_U32)) return a.view(unsigned_of(32));
  if (kind == "offsets" && (type == UPSWEEP_I64 || type == UPSWEEP_U64)) return a.view(unsigned_of(64));
  const char* const wanted = kind == "flags"  ? "bool or uint8"
                             : kind == "keys" ? "integers of 32 bits"
                                              : "integers of 64 bits";
  throw nb::type_error((kind + " has the type " + a.element->name + "; it takes " + wanted).c_str());
}

}  // namespace

nb::object segmented_scan(nb::handle x, nb::handle heads, const char* kind, const char* operation, nb::handle dtype,
                          bool is_exclusive, nb::handle initial, nb::handle out, const char* rung) {
  const Array a = vector_of(x), marks = heads_of(heads, kind);
  const bool is_sum = std::strcmp(operation, "sum") == 0;
  const Element& wanted = is_sum ? sum_type(a, dtype) : *a.element;
  if (wanted.is_half()) {
    const nb::object wide = segmented_scan(a.computable().object(), heads, kind, operation, nb::none(), is_exclusive,
                                           initial, nb::none(), rung);
    return narrowed(wide, wanted, out, a);
  }
  const Array result = output_of(out, a, a.size, wanted);
  const Terms terms(a, wanted);
  const Array written = result.view(terms.computed);
  Call call("segmented_scan", operation, rung);
  terms.add_initial(call, initial, wanted);
  call.choice("heads", kind).flag("inclusive", !is_exclusive);
  call.in(terms.array).in(marks).out(written).run();
  return result.object();
}

nb::object scan_of_rows(nb::handle x, const char* operation, nb::handle dtype, bool is_exclusive, nb::handle initial,
                        const char* rung) {
  const Array a = array_of(x);
  const std::int64_t width = std::max<std::int64_t>(a.shape[a.ndim - 1], 1);
  const nb::object heads = a.library->hooks.attr("heads")(a.size / static_cast<std::size_t>(width), width, a.object());
  const nb::object scanned = segmented_scan(a.flat().object(), heads[1], nb::cast<const char*>(heads[0]), operation,
                                            dtype, is_exclusive, initial, nb::none(), rung);
  return scanned.attr("reshape")(a.shape_tuple());
}

nb::object sort(nb::handle x, const char* order, nb::handle out, const char* rung) {
  const Array a = vector_of(x);
  const Array result = output_of(out, a, a.size, *a.element);
  Call("sort", order, rung).in(a).out(result).run();
  return result.object();
}

nb::object argsort(nb::handle x, const char* order, nb::handle out, const char* rung) {
  const Array a = vector_of(x), indices = output_of(out, a, a.size, a.integer());
  Call("sort", order, rung).in(a).without_out().out(indices).run();
  return indices.object();
}

namespace {

// Returns the values that move with the keys. Throws unless there is one per key, of 4 or 8 bytes.
Array values_of(nb::handle values, const Array& keys) {
  const Array a = vector_of(values, "values");
  if (a.element->bits < 32)
    throw nb::type_error((std::string("values has the type ") + a.element->name + "; they have 4 or 8 bytes").c_str());
  if (a.size != keys.size)
    throw nb::value_error(
        ("values has " + std::to_string(a.size) + " elements, keys " + std::to_string(keys.size)).c_str());
  return a;
}

nb::tuple partitioned(const Array& keys, const Array& words, nb::handle values, const Array* splitters,
                      std::size_t buckets, Call&& call) {
  const Array out = keys.empty(keys.size, *keys.element), written = out.view(*words.element);
  const Array offsets = keys.empty(buckets + 1, keys.integer());
  if (values.is_none()) {
    call.in(words);
    if (splitters) call.without_in().in(*splitters);
    call.out(written).without_out().out(offsets).run();
    return nb::make_tuple(out.object(), offsets.object(), nb::none());
  }
  const Array moved = values_of(values, keys), out_values = moved.empty(moved.size, *moved.element);
  const Element& word = unsigned_of(moved.element->bits);
  const Array in_words = moved.view(word), out_words = out_values.view(word);
  call.in(words).in(in_words);
  if (splitters) call.in(*splitters);
  call.out(written).out(out_words).out(offsets).run();
  return nb::make_tuple(out.object(), offsets.object(), out_values.object());
}

}  // namespace

nb::tuple sort_by_key(nb::handle keys, nb::handle values, const char* order, const char* rung) {
  const Array a = vector_of(keys, "keys"), moved = values_of(values, a);
  const Array out = a.empty(a.size, *a.element), out_values = moved.empty(moved.size, *moved.element);
  const Element& word = unsigned_of(moved.element->bits);
  const Array in_words = moved.view(word), out_words = out_values.view(word);
  Call("sort", order, rung).in(a).in(in_words).out(out).out(out_words).run();
  return nb::make_tuple(out.object(), out_values.object());
}

nb::tuple partition_by_digit(nb::handle keys, nb::handle values, int first_bit, int bits, const char* rung) {
  const Array a = vector_of(keys, "keys");
  if (a.element->is_float() || a.element->bits < 32)
    throw nb::type_error(
        (std::string("keys has the type ") + a.element->name + "; they are integers of 32 or 64 bits").c_str());
  Call call("partition", "digit", rung);
  call.integer("first_bit", first_bit).integer("bits", bits);
  const std::size_t buckets = bits >= 0 && bits < 16 ? std::size_t{1} << bits : 1;  // the call refuses others
  return partitioned(a, a.view(unsigned_of(a.element->bits)), values, nullptr, buckets, std::move(call));
}

nb::tuple partition_by_splitters(nb::handle keys, nb::handle values, nb::handle splitters, const char* rung) {
  const Array a = vector_of(keys, "keys"), bounds = vector_of(splitters, "splitters");
  if (!a.element->is_unsigned() || a.element->bits < 32)
    throw nb::type_error((std::string("keys has the type ") + a.element->name + "; they are uint32 or uint64").c_str());
  if (bounds.element != a.element)
    throw nb::type_error(
        (std::string("splitters has the type ") + bounds.element->name + ", keys " + a.element->name).c_str());
  return partitioned(a, a, values, &bounds, bounds.size + 1, Call("partition", "splitters", rung));
}

namespace {

// Runs a selection, waits for it, and returns the number of elements that it selected.
std::size_t selected(const char* operation, const Array& a, const Array* flags, const Array& out, const Array* lengths,
                     const char* rung) {
  std::uint64_t count = 0;
  Call call("select", operation, rung);
  call.in(a);
  if (flags) call.in(*flags);
  call.out(out).host_out(count);
  if (lengths) call.out(*lengths);
  call.run();
  return count;
}

}  // namespace

nb::object compress(nb::handle condition, nb::handle x, const char* rung) {
  const Array a = vector_of(x), flags = vector_of(condition, "condition");
  if (flags.element->code != dlpack::boolean)
    throw nb::type_error((std::string("condition has the type ") + flags.element->name + ", not bool").c_str());
  if (flags.library != a.library)
    throw nb::type_error(("condition is a " + class_name(flags.object()) + ", x a " + class_name(a.object())).c_str());
  if (flags.size != a.size)
    throw nb::value_error(
        ("condition has " + std::to_string(flags.size) + " elements, x " + std::to_string(a.size)).c_str());
  const Array out = a.empty(a.size, *a.element);
  const Element& moved = a.element->is_half() ? unsigned_of(16) : *a.element;
  return out.first(selected("select_flagged", a.view(moved), &flags, out.view(moved), nullptr, rung));
}

namespace {

nb::object positions(const char* operation, nb::handle x, const char* rung) {
  const Array a = vector_of(x).computable(), out = a.empty(a.size, a.integer());
  return out.first(selected(operation, a, nullptr, out, nullptr, rung));
}

}  // namespace

nb::object find_repeats(nb::handle x, const char* rung) { return positions("find_repeats", x, rung); }
nb::object nonzero(nb::handle x, const char* rung) { return positions("nonzero", x, rung); }

nb::object unique_consecutive(nb::handle x, const char* rung) {
  const Array given = vector_of(x), a = given.computable(), out = a.empty(a.size, *a.element);
  return array_of(out.first(selected("unique", a, nullptr, out, nullptr, rung))).cast(*given.element).object();
}

nb::tuple run_length_encode(nb::handle x, const char* rung) {
  const Array given = vector_of(x), a = given.computable(), values = a.empty(a.size, *a.element);
  const Array lengths = a.empty(a.size, a.integer());
  const std::size_t found = selected("run_length_encode", a, nullptr, values, &lengths, rung);
  return nb::make_tuple(array_of(values.first(found)).cast(*given.element).object(), lengths.first(found));
}

namespace {

// Returns the type of counts: `dtype` if there is one, otherwise the library's default integer.
const Element& count_type(const Array& a, nb::handle dtype) {
  if (dtype.is_none()) return a.integer();
  const Element& asked = element_of(nb::cast<const char*>(dtype));
  if (asked.is_unsigned() || (asked.is_signed() && asked.bits >= 32)) return asked;
  throw nb::type_error((std::string("dtype is ") + asked.name + ", which is no type of counts").c_str());
}

// Writes numpy.linspace(lower, upper, bins + 1), with the same bits.
template <class T>
void write_edges(const Array& to, double lower, double upper) {
  auto* const edges = static_cast<T*>(to.data);
  const std::size_t bins = to.size - 1;
  const double step = (upper - lower) / static_cast<double>(bins);
  for (std::size_t k = 0; k < bins; ++k) edges[k] = static_cast<T>(static_cast<double>(k) * step + lower);
  edges[bins] = static_cast<T>(upper);
}

// Returns true if an integer type has a value in [lower, upper].
bool has_value_in(const Element& integer, double lower, double upper) {
  const int digits = integer.code == dlpack::boolean ? 1 : integer.bits - integer.is_signed();
  return upper >= (integer.is_signed() ? -std::ldexp(1.0, digits) : 0) && lower < std::ldexp(1.0, digits);
}

}  // namespace

nb::tuple histogram(nb::handle x, std::size_t bins, nb::handle range, nb::handle dtype, const char* rung) {
  const Array a = array_of(x).computable(), counts = a.empty(bins, count_type(a, dtype));
  double lower = 0, upper = 1;
  if (range.is_none() && a.is_traced)
    throw nb::type_error("an array under jax.jit has no values yet, so that histogram() needs a range");
  if (!range.is_none()) {
    lower = nb::cast<double>(range[0]);
    upper = nb::cast<double>(range[1]);
  } else if (a.size > 0) {
    lower = nb::cast<double>(extreme(a.object(), nb::none(), "min", "").attr("__float__")());
    upper = nb::cast<double>(extreme(a.object(), nb::none(), "max", "").attr("__float__")());
  }
  if (!std::isfinite(lower) || !std::isfinite(upper) || upper < lower)
    throw nb::value_error(nb::str("range is [{}, {}], which is reversed or not finite").format(lower, upper).c_str());
  if (lower == upper) {
    lower -= 0.5;
    upper += 0.5;
  }
  const Array edges = numpy_array(bins + 1, a.element->is_float() ? *a.element : float_of(64));
  edges.element->bits == 32 ? write_edges<float>(edges, lower, upper) : write_edges<double>(edges, lower, upper);

  const Array written = counts.view(unsigned_of(counts.element->bits));
  // If the range does not begin and end at integers, integers are binned by the array of edges.
  const bool is_even = a.element->is_float() || (lower == std::floor(lower) && upper == std::floor(upper));
  Array samples = a;
  if (!a.element->is_float() && !has_value_in(*a.element, lower, upper)) {  // a call refuses such a range
    samples.size = 0;
    lower = 0;
    upper = 1;
  }
  Call call("histogram", is_even ? "even" : "edges", rung);
  call.in(samples).out(written).flag("closed", true);
  if (is_even) {
    call.number("lower", lower).number("upper", upper).run();
  } else {
    const Array own = a.upload(edges.object());
    call.in(own).run();
  }
  return nb::make_tuple(counts.object(), edges.object());
}

nb::object histogram_of_edges(nb::handle x, nb::handle edges, nb::handle dtype, const char* rung) {
  const Array a = array_of(x).computable(), bounds = a.upload(vector_of(edges, "bins").object());
  if (bounds.size < 2) throw nb::value_error("bins has fewer than two edges");
  const Array counts = a.empty(bounds.size - 1, count_type(a, dtype));
  const Array written = counts.view(unsigned_of(counts.element->bits));
  Call("histogram", "edges", rung).in(a).in(bounds).out(written).flag("closed", true).run();
  return counts.object();
}

namespace {

constexpr std::size_t most_bins = std::size_t{1} << 20;

// Returns the largest of every step-th element in host memory, read as unsigned, so that negative elements are large.
// Has four independent chains, because each step of a chain waits for the one before it.
template <class Word>
std::uint64_t largest_of(const Array& a, std::size_t step) {
  const auto* const bytes = static_cast<const char*>(a.data);
  const auto at = [&](std::size_t i) {
    Word word;
    std::memcpy(&word, bytes + i * sizeof word, sizeof word);
    return word;
  };
  Word first = 0, second = 0, third = 0, fourth = 0;
  std::size_t i = 0;
  for (; i + 3 * step < a.size; i += 4 * step) {
    first = std::max(first, at(i));
    second = std::max(second, at(i + step));
    third = std::max(third, at(i + 2 * step));
    fourth = std::max(fourth, at(i + 3 * step));
  }
  for (; i < a.size; i += step) first = std::max(first, at(i));
  return std::max(std::max(first, second), std::max(third, fourth));
}

// Maximum number of elements for finding the number of bins from all of them, which takes less time than counting in
// bins that are not needed. With more, a sample of them is used.
constexpr std::size_t few_samples = 4096;

// Returns the number of bins that the elements, in host memory, need; a guess if there are more than few_samples.
std::size_t bins_for(const Array& a) {
  constexpr std::size_t some = 256;
  const std::size_t step = a.size <= few_samples ? 1 : a.size / some;
  const std::uint64_t largest = a.element->bits == 8    ? largest_of<std::uint8_t>(a, step)
                                : a.element->bits == 16 ? largest_of<std::uint16_t>(a, step)
                                : a.element->bits == 32 ? largest_of<std::uint32_t>(a, step)
                                                        : largest_of<std::uint64_t>(a, step);
  return step == 1 ? largest + 1 : 2 * largest;
}

// Returns the number of counts up to the last nonzero one. The counts are in host memory.
std::size_t without_zeros(const Array& counts) {
  const auto* const bytes = static_cast<const char*>(counts.data);
  const std::size_t size = counts.element->bits / 8u;
  std::size_t end = counts.size * size;
  while (end > 0 && bytes[end - 1] == 0) --end;
  return (end + size - 1) / size;
}

// Reads integers as unsigned: negative ones then belong to no bin, and rungs make one comparison less per sample.
Array as_unsigned(const Array& a) { return a.element->is_signed() ? a.view(unsigned_of(a.element->bits)) : a; }

// Counts how often each integer in [0, counts.size) occurs, and ignores all others.
void count(const Array& a, const Array& counts, const char* rung) {
  const Array written = counts.view(unsigned_of(counts.element->bits));
  Call("histogram", "direct", rung).in(as_unsigned(a)).out(written).run();
}
// As count(), but waits, and returns the number of samples outside of [0, counts.size).
std::uint64_t counted(const Array& a, const Array& counts, const char* rung) {
  const Array written = counts.view(unsigned_of(counts.element->bits));
  std::uint64_t others = 0;
  Call("histogram", "direct", rung).in(as_unsigned(a)).out(written).host_out(others).run();
  return others;
}

// Returns the largest element, read as unsigned, so that negative elements are large. Waits for it.
std::uint64_t largest_unsigned(const Array& a) {
  const Array compared = (a.element->bits < 32 ? a.cast(signed_of(32)) : a);
  const Array terms = compared.view(unsigned_of(compared.element->bits));
  std::uint64_t largest = 0;
  Call("reduce", "max", "").in(terms).host_out(largest, *terms.element).run();
  return largest;
}

}  // namespace

nb::object bincount(nb::handle x, std::size_t minlength, nb::handle length, nb::handle dtype, const char* rung) {
  const Array a = vector_of(x);
  const Element& type = count_type(a, dtype);
  if (a.element->is_float())
    throw nb::type_error((std::string("x has the type ") + a.element->name + "; bincount takes integers").c_str());
  if (!length.is_none()) {
    const auto bins = nb::cast<std::size_t>(length);
    if (bins > most_bins) throw nb::value_error(("length is " + std::to_string(bins) + ", above 2^20").c_str());
    const Array counts = a.empty(bins, type);
    if (bins > 0) count(a, counts, rung);
    return counts.object();
  }
  if (a.is_traced) throw nb::type_error("an array under jax.jit has no values yet, so that bincount() needs a length");
  // A guess saves the pass that finds the largest element. The number of samples outside of the bins tells if it was
  // too low.
  if (!a.is_on_gpu() && a.size > 0) {
    const std::size_t guess = std::max<std::size_t>(bins_for(a.placed()), minlength);
    if (guess <= most_bins && guess > 0) {
      const Array counts = a.empty(guess, type);
      if (a.size <= few_samples) {
        count(a, counts, rung);
        return counts.object();
      }
      if (counted(a, counts, rung) == 0) return counts.first(std::max(without_zeros(counts.placed()), minlength));
    }
  }
  // Bytes are counted in all 256 bins, which saves the pass that finds the largest element.
  if (a.element->bits == 8 && a.size > 0 && minlength <= 256) {
    const Array counts = a.empty(256, type);
    if (a.element->is_signed()) {
      if (counted(a, counts, rung) > 0) throw nb::value_error("x has a negative element");
    } else {
      count(a, counts, rung);
    }
    const Array found = array_of(a.library->hooks.attr("download")(counts.object()));
    return counts.first(std::max(without_zeros(found.placed()), minlength));
  }
  std::uint64_t bins = minlength;
  if (a.size > 0) {
    const std::uint64_t largest = largest_unsigned(a);
    if (a.element->is_signed() && largest >> (a.element->bits < 32 ? 31 : a.element->bits - 1))
      throw nb::value_error("x has a negative element");
    bins = std::max<std::uint64_t>(bins, largest < most_bins ? largest + 1 : largest);
  }
  if (bins > most_bins) return nb::none();
  const Array counts = a.empty(bins, type);
  if (bins > 0) count(a, counts, rung);
  return counts.object();
}

namespace {

// Returns element i, of 32 or 64 bits; nullopt if its magnitude exceeds 2^53, up to which a double represents every
// integer.
std::optional<std::int64_t> integer_at(const Array& a, std::size_t i) {
  constexpr std::int64_t exact = std::int64_t{1} << 53;
  std::int64_t value = 0;
  std::memcpy(&value, static_cast<const char*>(a.data) + i * (a.element->bits / 8u), a.element->bits / 8u);
  if (a.element->type == UPSWEEP_I32) value = static_cast<std::int32_t>(value);
  const std::int64_t least = a.element->is_unsigned() ? 0 : -exact;  // u64 values of 2^63 and more are read as negative
  return value >= least && value <= exact ? std::optional(value) : std::nullopt;
}

struct Range {
  std::int64_t smallest, largest;
  std::size_t size() const { return static_cast<std::size_t>(largest - smallest) + 1; }
  void include(std::int64_t value) {
    smallest = std::min(smallest, value);
    largest = std::max(largest, value);
  }
};

// Returns the range of the integers in host memory, or nullopt if it has more than `most` values. Integers of 8 and 16
// bits get their type's range. Others are sampled first, because a pass over all elements takes a tenth of the time of
// the sort that it may save.
std::optional<Range> range_of(const Array& a, std::size_t most) {
  const int bits = a.element->bits;
  if (bits <= 16) {
    const std::int64_t below = a.element->is_signed() ? std::int64_t{1} << (bits - 1) : 0;
    const Range all{-below, (std::int64_t{1} << bits) - 1 - below};
    return all.size() <= most ? std::optional(all) : std::nullopt;
  }
  constexpr std::size_t some = 256;
  Range range{std::int64_t{1} << 53, -(std::int64_t{1} << 53)};
  for (std::size_t k = 0; k < some; ++k) {
    const auto value = integer_at(a, k * (a.size / some));
    if (!value) return std::nullopt;
    range.include(*value);
    if (range.size() > most) return std::nullopt;
  }
  const Array extreme = numpy_array(1, *a.element);
  for (const char* const which : {"min", "max"}) {
    Call("reduce", which, "").in(a).out(extreme).run();
    const auto value = integer_at(extreme, 0);
    if (!value) return std::nullopt;
    range.include(*value);
  }
  return range.size() <= most ? std::optional(range) : std::nullopt;
}

}  // namespace

nb::object counted_values(nb::handle x) {
  const Array given = array_of(x);
  if (given.is_traced || given.is_on_gpu() || given.element->is_float() || given.size <= few_samples) return nb::none();
  const Array a = given.placed();
  const auto range = range_of(a, std::min(a.size, most_bins));
  if (!range) return nb::none();
  const Array counts = numpy_array(range->size(), unsigned_of(64));
  Call call("histogram", "even", "");
  call.number("lower", static_cast<double>(range->smallest)).number("upper", static_cast<double>(range->largest) + 1);
  call.in(a).out(counts).run();

  const auto* const count = static_cast<const std::uint64_t*>(counts.data);
  const auto found =
      static_cast<std::size_t>(std::count_if(count, count + counts.size, [](std::uint64_t each) { return each > 0; }));
  const bool is_uploaded = a.library->is_jax;
  const auto made = [&](const Element& of) { return is_uploaded ? numpy_array(found, of) : a.empty(found, of); };
  const Array values = made(*a.element), frequencies = made(a.integer());
  auto* value = static_cast<char*>(values.data);
  auto* frequency = static_cast<char*>(frequencies.data);
  const std::size_t value_size = a.element->bits / 8u, frequency_size = a.integer().bits / 8u;
  for (std::size_t k = 0; k < counts.size; ++k) {
    if (count[k] == 0) continue;
    const std::int64_t integer = range->smallest + static_cast<std::int64_t>(k);
    std::memcpy(value, &integer, value_size);  // every machine that CUDA runs on is little-endian
    std::memcpy(frequency, &count[k], frequency_size);
    value += value_size;
    frequency += frequency_size;
  }
  if (is_uploaded) return nb::make_tuple(a.upload(values.object()).object(), a.upload(frequencies.object()).object());
  return nb::make_tuple(values.object(), frequencies.object());
}

nb::object saxpy(nb::handle a, nb::handle x, nb::handle y, nb::handle out, const char* rung) {
  const Array given = vector_of(x), first = given.computable(), second = vector_of(y, "y").computable();
  if (second.element != first.element)
    throw nb::type_error(
        (std::string("y has the type ") + second.element->name + ", x " + first.element->name).c_str());
  if (second.size != first.size)
    throw nb::value_error(
        ("y has " + std::to_string(second.size) + " elements, x " + std::to_string(first.size)).c_str());
  if (first.element->code == dlpack::boolean) throw nb::type_error("x has the type bool; saxpy takes numbers");
  if (given.element->is_half() && !out.is_none())
    return narrowed(saxpy(a, first.object(), second.object(), nb::none(), rung), *given.element, out, given);
  const Array result = output_of(out, first, first.size, *first.element);
  Call("saxpy", nullptr, rung).scalar("a", a).in(first).in(second).out(result).run();
  return result.cast(*given.element).object();
}

nb::object render(nb::handle circles, nb::dict picture, const char* rung) {
  const Array a = array_of(circles, "circles");
  if (a.element->type != UPSWEEP_F32)
    throw nb::type_error((std::string("circles has the type ") + a.element->name + ", not float32").c_str());
  if (a.ndim != 2 || a.shape[1] != 8)
    throw nb::value_error("circles has not the shape (n, 8): x, y, z, radius, red, green, blue and alpha");
  const auto side = [&](const char* name) { return nb::cast<std::size_t>(picture[name]); };
  const std::size_t width = side("width"), height = side("height");
  const std::size_t channels = nb::cast<std::string>(picture["channels"]) == "rgb" ? 3 : 4;
  const Array image = a.empty(width * height * channels, *a.element);
  Call call("render", nullptr, rung);
  for (const auto& [name, value] : picture) call.scalar(nb::cast<const char*>(name), value);
  call.in(a).out(image).run();
  return image.object().attr("reshape")(nb::make_tuple(height, width, channels));
}

}  // namespace upsweep::python

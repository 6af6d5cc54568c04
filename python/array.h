// Arrays of any Python library, seen as memory.
#pragma once
#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "dlpack.h"
#include "upsweep.h"

namespace upsweep::python {

namespace nb = nanobind;

// An element type, by the name that NumPy and the array API standard give it.
struct Element {
  const char* name;
  std::uint8_t code, bits;  // DLPack's
  upsweep_type type;        // of the bits: bool is 0 or 1 in a byte

  bool is_float() const { return code == dlpack::real || code == dlpack::bfloat; }
  // True for floats of 16 bits, which only some calls take as they are.
  bool is_half() const { return is_float() && bits == 16; }
  bool is_signed() const { return code == dlpack::integer; }
  bool is_unsigned() const { return code == dlpack::unsigned_integer; }
};

// Returns the element of that name. Throws TypeError if there is none.
const Element& element_of(const char* dtype);
const Element& signed_of(int bits);
const Element& unsigned_of(int bits);
const Element& float_of(int bits);

// The way to the arrays of one Python type.
struct Library {
  nb::object hooks;                     // a class of _arrays.py
  nb::object look, stream;              // its functions that every call needs
  const dlpack::ExchangeApi* exchange;  // null: reached through the hooks, or NumPy's through buffers
  bool is_numpy;
  bool converts;     // to an array of NumPy's or another library's, because objects of this type are of no library
  bool is_jax;       // has no streams: calls are parts of XLA's programs, or else wait for their results
  int integer_bits;  // of its integers by default: 64, or 32 for JAX
};

// An array and the place of its elements. Elements of a contiguous array, in the machine's byte order, are used in
// place; others are copied first.
struct Array {
  static constexpr int most_dimensions = 8;

  // An array that the call which writes it makes or replaces, and the type of its elements.
  struct Result {
    nb::object object;
    const Element* element;
  };

  nb::object given;                // the library's array, unless there is a `result`
  std::shared_ptr<Result> result;  // JAX's; shared with views
  const Library* library = nullptr;
  const Element* element = nullptr;
  void* data = nullptr;
  int ndim = 0;
  std::int64_t shape[most_dimensions] = {};
  std::size_t size = 0;
  dlpack::Device device{dlpack::cpu, 0};
  bool is_writable = true;
  bool is_staged = false;  // XLA's programs read and write the elements, whose address is null here
  bool is_traced = false;  // staged, under jax.jit and other transformations: there are no elements yet

  // The library's array. One that a call makes is there after the call.
  const nb::object& object() const { return result ? result->object : given; }
  bool is_on_gpu() const { return device.type != dlpack::cpu; }
  // The library's default for indices, counts and sums of integers.
  const Element& integer() const { return signed_of(library->integer_bits); }
  nb::tuple shape_tuple() const;
  // The elements of a row along the last axis.
  std::int64_t width() const { return ndim ? shape[ndim - 1] : 1; }
  // The same memory under another type of the same size.
  Array view(const Element& as) const;
  // New arrays of the same library on the same device, with any elements, in one dimension or none.
  Array empty(std::size_t n, const Element& of) const;
  Array scalar(const Element& of) const;
  // A new array for one element per row along the last axis.
  Array one_per_row(const Element& of) const;
  // A copy of the elements, converted.
  Array cast(const Element& to) const;
  // The same array with the address of its elements, for which this waits.
  Array placed() const;
  // The same elements in one dimension.
  Array flat() const;
  // The elements in a type that every call takes: float32 for halves.
  Array computable() const { return element->is_half() ? cast(float_of(32)) : *this; }
  // Writes the elements of another array here.
  void assign(const Array& from) const { library->hooks.attr("assign")(object(), from.object()); }
  // An array with values of NumPy's, on the same device.
  Array upload(nb::handle values) const;
  // The library's array of the first n elements.
  nb::object first(std::size_t n) const;
  // The only element of a scalar: NumPy's, or the array.
  nb::object item() const;
  // The stream that the library's own work for this device is queued on; 0 for a CPU.
  std::uintptr_t stream() const;
};

std::string class_name(nb::handle x);

// Registers _arrays.py's library_of(), which returns the hooks of a type.
void set_library_of(nb::object library_of);

// Takes an array, or what numpy.asarray() takes. Throws TypeError or ValueError that names it `name`.
Array array_of(nb::handle x, const char* name = "x");
// Takes an array of one dimension.
Array vector_of(nb::handle x, const char* name = "x");

// A new array of NumPy's, with any elements.
Array numpy_array(std::size_t n, const Element& of);

// Takes `out`, or makes a new array of n elements if it is None. Throws TypeError or ValueError unless it is an array
// of the library and device of `like`, contiguous, writable, and of this size and type.
Array output_of(nb::handle out, const Array& like, std::size_t n, const Element& of);

}  // namespace upsweep::python

// Arrays of any Python library, as plain memory.
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

// An element type. Its name is that of NumPy and the array API standard.
struct Element {
  const char* name;
  std::uint8_t code, bits;  // as in DLPack
  upsweep_type type;        // in the C interface, with the same bits; u8 for bool, which is 0 or 1

  bool is_float() const { return code == dlpack::real || code == dlpack::bfloat; }
  // True for 16-bit floats, which only some calls take directly.
  bool is_half() const { return is_float() && bits == 16; }
  bool is_signed() const { return code == dlpack::integer; }
  bool is_unsigned() const { return code == dlpack::unsigned_integer; }
};

// Returns the element type of that name. Throws TypeError if there is none.
const Element& element_of(const char* dtype);
const Element& signed_of(int bits);
const Element& unsigned_of(int bits);
const Element& float_of(int bits);

// Access to the arrays of one Python type.
struct Library {
  nb::object hooks;                     // an object of a class in _arrays.py
  nb::object look, stream;              // functions of `hooks` that every call needs
  const dlpack::ExchangeApi* exchange;  // null: arrays are read through the hooks, NumPy's as buffers
  bool is_numpy;
  bool converts;     // objects of this type belong to no library; they are converted to NumPy's, CuPy's or PyTorch's
  bool is_jax;       // has no streams: calls run inside XLA programs, or else wait for their results
  int integer_bits;  // of its default integer type: 64, or 32 for JAX without jax_enable_x64
};

// An array and the address of its elements. Contiguous elements in the machine's byte order are used in place; others
// are copied first.
struct Array {
  static constexpr int most_dimensions = 8;

  // An output array, which the call that writes it makes or replaces, and its element type.
  struct Result {
    nb::object object;
    const Element* element;
  };

  nb::object given;                // the library's array, unless there is a `result`
  std::shared_ptr<Result> result;  // JAX only; shared with views
  const Library* library = nullptr;
  const Element* element = nullptr;
  void* data = nullptr;
  int ndim = 0;
  std::int64_t shape[most_dimensions] = {};
  std::size_t size = 0;
  dlpack::Device device{dlpack::cpu, 0};
  bool is_writable = true;
  bool is_staged = false;  // XLA programs read and write the elements; `data` is null
  bool is_traced = false;  // is_staged too: under jax.jit or another transformation, there are no elements yet

  // The library's array. A result is there only after the call that makes it.
  const nb::object& object() const { return result ? result->object : given; }
  bool is_on_gpu() const { return device.type != dlpack::cpu; }
  // The library's default type for indices, counts and integer sums.
  const Element& integer() const { return signed_of(library->integer_bits); }
  nb::tuple shape_tuple() const;
  // The number of elements in a row along the last axis.
  std::int64_t width() const { return ndim ? shape[ndim - 1] : 1; }
  // The same memory under another type of the same size.
  Array view(const Element& as) const;
  // Return new, uninitialised arrays of the same library on the same device: with n elements in one dimension, or with
  // one element in no dimension.
  Array empty(std::size_t n, const Element& of) const;
  Array scalar(const Element& of) const;
  // Returns a new, uninitialised array with one element per row along the last axis.
  Array one_per_row(const Element& of) const;
  // A copy with the elements converted.
  Array cast(const Element& to) const;
  // The same array with `data` set. Waits until the elements are computed.
  Array placed() const;
  // The same elements in one dimension.
  Array flat() const;
  // The same elements in a type that every call takes: halves are converted to float32.
  Array computable() const { return element->is_half() ? cast(float_of(32)) : *this; }
  // Copies the elements of `from` to this array.
  void assign(const Array& from) const { library->hooks.attr("assign")(object(), from.object()); }
  // Returns an array with the values of a NumPy array, on this array's device.
  Array upload(nb::handle values) const;
  // The library's array of the first n elements.
  nb::object first(std::size_t n) const;
  // The value of a scalar array: a NumPy scalar, or for other libraries the array itself.
  nb::object item() const;
  // The library's current stream on this device; 0 for a CPU.
  std::uintptr_t stream() const;
};

std::string class_name(nb::handle x);

// Registers _arrays.py's library_of(), which returns the hooks of a type.
void set_library_of(nb::object library_of);

// Returns the Array of `x`, an array or anything else that numpy.asarray() takes. Throws TypeError or ValueError with a
// message that calls it `name`.
Array array_of(nb::handle x, const char* name = "x");
// As array_of(); throws ValueError unless `x` has one dimension.
Array vector_of(nb::handle x, const char* name = "x");

// Returns a new, uninitialised NumPy array.
Array numpy_array(std::size_t n, const Element& of);

// Returns `out`, or a new array of n elements if it is None. Throws TypeError or ValueError unless `out` is contiguous
// and writable, has n elements of the type `of`, and belongs to the library and device of `like`.
Array output_of(nb::handle out, const Array& like, std::size_t n, const Element& of);

}  // namespace upsweep::python

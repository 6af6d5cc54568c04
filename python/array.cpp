#include "array.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace upsweep::python {
namespace {

constexpr Element elements[] = {
    {"bool", dlpack::boolean, 8, UPSWEEP_U8},
    {"int8", dlpack::integer, 8, UPSWEEP_I8},
    {"int16", dlpack::integer, 16, UPSWEEP_I16},
    {"int32", dlpack::integer, 32, UPSWEEP_I32},
    {"int64", dlpack::integer, 64, UPSWEEP_I64},
    {"uint8", dlpack::unsigned_integer, 8, UPSWEEP_U8},
    {"uint16", dlpack::unsigned_integer, 16, UPSWEEP_U16},
    {"uint32", dlpack::unsigned_integer, 32, UPSWEEP_U32},
    {"uint64", dlpack::unsigned_integer, 64, UPSWEEP_U64},
    {"float16", dlpack::real, 16, UPSWEEP_F16},
    {"bfloat16", dlpack::bfloat, 16, UPSWEEP_BF16},
    {"float32", dlpack::real, 32, UPSWEEP_F32},
    {"float64", dlpack::real, 64, UPSWEEP_F64},
};

const Element* find_element(int code, int bits) {
  const auto* const found = std::find_if(std::begin(elements), std::end(elements),
                                         [&](const Element& e) { return e.code == code && e.bits == bits; });
  return found == std::end(elements) ? nullptr : found;
}

// Module state is never freed, because it is still used while Python finalizes.
nb::object& kept_library_of() {
  static auto* const kept = new nb::object;
  return *kept;
}

struct NumPy {
  nb::object array = nb::module_::import_("numpy").attr("ndarray");
  nb::object empty = nb::module_::import_("numpy").attr("empty");
  std::vector<nb::object> dtypes;
  NumPy() {
    const nb::object dtype = nb::module_::import_("numpy").attr("dtype");
    // NumPy has no bfloat16.
    for (const Element& element : elements)
      dtypes.push_back(element.code == dlpack::bfloat ? nb::none() : dtype(element.name));
  }
};

const NumPy& numpy() {
  static const auto* const kept = new NumPy;
  return *kept;
}

const dlpack::ExchangeApi* exchange_of(nb::handle type) {
  for (const char* const name : {"__dlpack_c_exchange_api__", "__c_dlpack_exchange_api__"}) {  // DLPack 1.3, then 1.2
    if (!nb::hasattr(type, name)) continue;
    const nb::object capsule = type.attr(name);
    const auto* api =
        static_cast<const dlpack::ExchangeApi*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
    if (!api) PyErr_Clear();
    if (api && api->version.major == 1 && api->look) return api;
  }
  return nullptr;
}

const Library& library_of(nb::handle x) {
  static auto* const known = new std::vector<std::pair<PyTypeObject*, const Library*>>;
  PyTypeObject* const type = Py_TYPE(x.ptr());
  for (const auto& [its, library] : *known)
    if (its == type) return *library;
  nb::object hooks = kept_library_of()(nb::handle(reinterpret_cast<PyObject*>(type)));
  x.type().inc_ref();  // never freed, so that its address stays this type's
  // JAX's arrays and tracers are of several types, which share one Library.
  for (const auto& [its, library] : *known)
    if (library->hooks.is(hooks)) return *known->emplace_back(type, library).second;
  const bool is_numpy = nb::cast<bool>(hooks.attr("is_numpy")), is_jax = nb::cast<bool>(hooks.attr("is_jax"));
  known->emplace_back(
      type,
      new Library{.hooks = hooks,
                  .look = hooks.attr("look"),
                  .stream = hooks.attr("stream"),
                  .exchange = is_numpy || is_jax ? nullptr : exchange_of(nb::handle(reinterpret_cast<PyObject*>(type))),
                  .is_numpy = is_numpy,
                  .converts = is_numpy && !PyType_IsSubtype(type, reinterpret_cast<PyTypeObject*>(numpy().array.ptr())),
                  .is_jax = is_jax,
                  .integer_bits = nb::cast<int>(hooks.attr("integer_bits"))});
  return *known->back().second;
}

// Returns the element type of a format string of Python's struct module; null for byte-swapped, structured and other
// types.
const Element* element_of_format(const char* format, Py_ssize_t size) {
  if (!format || (std::strchr("@=<", *format) && *format && !*++format) || format[1]) return nullptr;
  const int bits = static_cast<int>(size) * 8;
  if (*format == '?') return find_element(dlpack::boolean, bits);
  if (std::strchr("bhilqn", *format)) return find_element(dlpack::integer, bits);
  if (std::strchr("BHILQN", *format)) return find_element(dlpack::unsigned_integer, bits);
  return std::strchr("efd", *format) ? find_element(dlpack::real, bits) : nullptr;
}

// Sets shape and size from `shape`. The strides are multiples of `unit`: 1 if they count elements, the element size if
// they count bytes. Returns true if the elements are contiguous.
template <class Index>
bool take_shape(Array& a, int ndim, const Index* shape, const Index* strides, Index unit) {
  if (ndim > Array::most_dimensions) throw nb::value_error("an array has more than 8 dimensions");
  a.ndim = ndim;
  a.size = 1;
  bool is_contiguous = true;
  for (int k = ndim - 1; k >= 0; --k) {
    if (strides && shape[k] != 1 && strides[k] != static_cast<Index>(a.size) * unit) is_contiguous = false;
    a.shape[k] = shape[k];
    a.size *= static_cast<std::size_t>(shape[k]);
  }
  return is_contiguous || a.size == 0;
}

bool look_at_buffer(Array& a) {
  Py_buffer buffer;
  if (PyObject_GetBuffer(a.given.ptr(), &buffer, PyBUF_STRIDED_RO | PyBUF_FORMAT) != 0) {
    PyErr_Clear();
    return false;  // an element type that the buffer protocol does not have
  }
  a.element = element_of_format(buffer.format, buffer.itemsize);
  a.data = buffer.buf;
  a.is_writable = !buffer.readonly;
  const bool is_contiguous = take_shape<Py_ssize_t>(a, buffer.ndim, buffer.shape, buffer.strides, buffer.itemsize);
  PyBuffer_Release(&buffer);  // the reference to the array keeps the memory alive
  return is_contiguous;
}

bool take_tensor(Array& a, const dlpack::Tensor& tensor) {
  a.element = tensor.dtype.lanes == 1 ? find_element(tensor.dtype.code, tensor.dtype.bits) : nullptr;
  a.data = static_cast<char*>(tensor.data) + tensor.byte_offset;
  a.device = tensor.device;
  return take_shape<std::int64_t>(a, tensor.ndim, tensor.shape, tensor.strides, 1);
}

bool look_by_hooks(Array& a) {
  const nb::object found = a.library->look(a.given);
  const nb::tuple shape = nb::cast<nb::tuple>(found[1]);
  const nb::object strides = found[2];
  const auto ndim = static_cast<int>(std::min<std::size_t>(shape.size(), Array::most_dimensions + 1));
  std::int64_t sizes[Array::most_dimensions + 1], steps[Array::most_dimensions + 1];
  for (int k = 0; k < ndim; ++k) {
    sizes[k] = nb::cast<std::int64_t>(shape[k]);
    if (!strides.is_none()) steps[k] = nb::cast<std::int64_t>(strides[k]);
  }
  const char* const name = nb::cast<const char*>(found[3]);
  a.element = nullptr;
  for (const Element& element : elements)
    if (std::strcmp(name, element.name) == 0) a.element = &element;
  a.is_staged = found[0].is_none();
  a.data = a.is_staged ? nullptr : reinterpret_cast<void*>(nb::cast<std::uintptr_t>(found[0]));
  const int ordinal = nb::cast<int>(found[4]);
  a.device = {ordinal < 0 ? dlpack::cpu : dlpack::cuda, std::max(ordinal, 0)};
  a.is_traced = ordinal == -2;
  a.is_writable = nb::cast<bool>(found[5]);
  return take_shape<std::int64_t>(a, ndim, sizes, strides.is_none() ? nullptr : steps,
                                  a.element ? a.element->bits / 8 : 1);
}

// Finds the elements of a.given: address, shape, type and device. The type is null if it is not in `elements`. Returns
// true if the elements are contiguous.
bool look(Array& a) {
  if (a.library->is_numpy) return look_at_buffer(a);
  if (!a.library->exchange) return look_by_hooks(a);
  dlpack::Tensor tensor;
  if (a.library->exchange->look(a.given.ptr(), &tensor) != 0) throw nb::python_error();
  return take_tensor(a, tensor);
}

// Throws TypeError with `is`, such as "x has the type complex64", and the list of known types.
[[noreturn]] void throw_unknown_type(const std::string& is) {
  std::string known;
  for (const Element& element : elements) known += (known.empty() ? "" : ", ") + std::string(element.name);
  throw nb::type_error((is + "; there are " + known).c_str());
}

std::string type_name_of(const Array& a) {
  return a.element ? a.element->name : nb::cast<std::string>(a.library->hooks.attr("dtype")(a.object()));
}

Array looked_at(nb::object object, const Library& library) {
  Array a;
  a.given = std::move(object);
  a.library = &library;
  if (!look(a)) throw nb::value_error("a new array is not contiguous");
  return a;
}

void set_error(void*, const char* kind, const char* message) {
  const bool is_memory = std::string_view(kind).find("Memory") != std::string_view::npos;
  PyErr_SetString(is_memory ? PyExc_MemoryError : PyExc_RuntimeError, message);
}

nb::object imported(const Library& library, dlpack::ManagedTensor* tensor) {
  void* array = nullptr;
  if (library.exchange->import_owned(tensor, &array) != 0) throw nb::python_error();
  return nb::steal(static_cast<PyObject*>(array));
}

nb::tuple tuple_of(int ndim, const std::int64_t* shape) {
  nb::list sizes;
  for (int k = 0; k < ndim; ++k) sizes.append(shape[k]);
  return nb::tuple(sizes);
}

// Returns a new JAX array of the given shape. If `like` is staged, the call that writes the array allocates it;
// otherwise, this version of JAX takes no handlers, and the array is allocated here.
Array result_of(const Array& like, int ndim, const std::int64_t* shape, const Element& of) {
  Array made;
  if (like.is_staged) {
    made.library = like.library;
    made.element = &of;
    made.device = like.device;
    made.is_staged = true;
    made.is_traced = like.is_traced;
    take_shape<std::int64_t>(made, ndim, shape, nullptr, 1);
  } else {
    made = looked_at(like.library->hooks.attr("empty")(tuple_of(ndim, shape), of.name, like.object()), *like.library);
  }
  made.result = std::make_shared<Array::Result>(made.given, &of);
  return made;
}

// Returns a new, uninitialised array of the given shape, of the library and on the device of `like`.
Array allocated(const Array& like, int ndim, const std::int64_t* shape, const Element& of) {
  const Library& library = *like.library;
  if (library.is_jax) return result_of(like, ndim, shape, of);
  if (!library.exchange) {
    // NumPy takes a number faster than a tuple.
    const nb::object sizes = ndim == 1 ? nb::object(nb::int_(*shape)) : nb::object(tuple_of(ndim, shape));
    return looked_at(library.is_numpy ? numpy().empty(sizes, numpy().dtypes[&of - elements])
                                      : library.hooks.attr("empty")(sizes, of.name, like.object()),
                     library);
  }
  dlpack::Tensor prototype{.data = nullptr,
                           .device = like.device,
                           .ndim = ndim,
                           .dtype = {of.code, of.bits, 1},
                           .shape = const_cast<std::int64_t*>(shape),
                           .strides = nullptr,
                           .byte_offset = 0};
  dlpack::ManagedTensor* tensor = nullptr;
  if (library.exchange->allocate(&prototype, &tensor, nullptr, set_error) != 0) throw nb::python_error();
  Array made;
  made.library = &library;
  take_tensor(made, tensor->tensor);
  made.given = imported(library, tensor);
  return made;
}

}  // namespace

const Element& element_of(const char* dtype) {
  for (const Element& element : elements)
    if (std::strcmp(element.name, dtype) == 0) return element;
  throw_unknown_type(std::string("dtype is ") + dtype);
}
const Element& signed_of(int bits) { return *find_element(dlpack::integer, bits); }
const Element& float_of(int bits) { return *find_element(dlpack::real, bits); }
const Element& unsigned_of(int bits) { return *find_element(dlpack::unsigned_integer, bits); }

std::string class_name(nb::handle x) { return nb::cast<std::string>(x.type().attr("__name__")); }

void set_library_of(nb::object library_of) { kept_library_of() = std::move(library_of); }

nb::tuple Array::shape_tuple() const { return tuple_of(ndim, shape); }

Array Array::view(const Element& as) const {
  Array same = *this;
  same.element = &as;
  return same;
}

Array Array::empty(std::size_t n, const Element& of) const {
  const auto size = static_cast<std::int64_t>(n);
  return allocated(*this, 1, &size, of);
}
Array Array::one_per_row(const Element& of) const { return allocated(*this, ndim - 1, shape, of); }

Array Array::scalar(const Element& of) const {
  if (!library->is_numpy) return allocated(*this, 0, nullptr, of);
  // item() copies from this memory, so each thread needs only one array per type. It is never freed, because threads
  // may end after Python does.
  thread_local auto* const kept = new std::unordered_map<const Element*, Array>;
  Array& its = (*kept)[&of];
  if (!its.library) its = allocated(*this, 0, nullptr, of);
  return its;
}

Array Array::cast(const Element& to) const {
  return element == &to ? *this : looked_at(library->hooks.attr("cast")(object(), to.name), *library);
}

Array Array::placed() const {
  Array found = *this;
  if (!is_staged) return found;
  found.is_staged = false;
  found.data = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(library->hooks.attr("address")(object())));
  return found;
}

Array Array::flat() const { return ndim == 1 ? *this : looked_at(object().attr("reshape")(-1), *library); }

Array Array::upload(nb::handle values) const {
  return looked_at(library->hooks.attr("upload")(values, object()), *library);
}

nb::object Array::first(std::size_t n) const {
  if (size == n) return object();
  nb::object view;
  if (library->exchange) {
    dlpack::ManagedTensor* tensor = nullptr;
    if (library->exchange->export_owned(given.ptr(), &tensor) != 0) throw nb::python_error();
    tensor->tensor.shape[0] = static_cast<std::int64_t>(n);
    view = imported(*library, tensor);
  } else if (library->is_jax) {
    return library->hooks.attr("first")(object(), n);  // a copy, because JAX has no views
  } else {
    view = object()[nb::slice(n)];
  }
  // A view keeps the memory of the whole array. A copy is worth its time only if it frees much memory (copying a small
  // array takes longer than the call), and if few elements are left, so that the copy is quick compared with the call,
  // which read all elements.
  constexpr std::size_t much = std::size_t{8} << 20, few = 16;
  const bool is_wasteful = few * n < size && (size - n) * element->bits / 8 > much;
  return is_wasteful ? nb::object(library->hooks.attr("copy")(view)) : view;
}

nb::object Array::item() const { return library->is_numpy ? nb::object(given[nb::tuple()]) : object(); }

std::uintptr_t Array::stream() const {
  if (!is_on_gpu()) return 0;
  if (!library->exchange) return nb::cast<std::uintptr_t>(library->stream(object()));
  void* stream = nullptr;
  if (library->exchange->current_stream(device.type, device.id, &stream) != 0) throw nb::python_error();
  return reinterpret_cast<std::uintptr_t>(stream);
}

Array array_of(nb::handle x, const char* name) {
  Array a;
  a.library = &library_of(x);
  a.given = nb::borrow(x);
  if (a.library->converts) {
    a.given = a.library->hooks.attr("array")(x);
    a.library = &library_of(a.given);
  }
  if (look(a) && a.element) return a;
  a.given = a.library->hooks.attr("array")(a.given);  // copies an array that is not contiguous or is byte-swapped
  if (look(a) && a.element) return a;
  throw_unknown_type(std::string(name) + " has the type " + type_name_of(a));
}

Array vector_of(nb::handle x, const char* name) {
  Array a = array_of(x, name);
  if (a.ndim != 1)
    throw nb::value_error((std::string(name) + " has " + std::to_string(a.ndim) + " dimensions, not one").c_str());
  return a;
}

Array numpy_array(std::size_t n, const Element& of) {
  static const Library& library = library_of(numpy().empty(0));
  return looked_at(numpy().empty(n, numpy().dtypes[&of - elements]), library);
}

Array output_of(nb::handle out, const Array& like, std::size_t n, const Element& of) {
  if (out.is_none()) return like.empty(n, of);
  if (Py_TYPE(out.ptr()) != Py_TYPE(like.object().ptr()))
    throw nb::type_error(("out is a " + class_name(out) + ", x a " + class_name(like.object())).c_str());
  Array a;
  a.library = like.library;
  a.given = nb::borrow(out);
  const bool is_contiguous = look(a);
  if (a.element != &of)
    throw nb::type_error(("out has the type " + type_name_of(a) + ", the result " + of.name).c_str());
  if (a.ndim != 1 || a.size != n)
    throw nb::value_error(("out has the shape " + nb::cast<std::string>(nb::str(a.shape_tuple())) + ", the result (" +
                           std::to_string(n) + ",)")
                              .c_str());
  if (!is_contiguous) throw nb::value_error("out is not contiguous");
  if (!a.is_writable) throw nb::value_error("out cannot be written");
  if (a.device.type != like.device.type || a.device.id != like.device.id)
    throw nb::value_error("out is on another device than x");
  return a;
}

}  // namespace upsweep::python

// The extension module of the Python package: passes arrays of any library that speaks DLPack or the buffer protocol to
// the C interface, without a copy.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "upsweep.h"

namespace nb = nanobind;

namespace {

using Array = nb::ndarray<nb::c_contig>;
using ReadOnlyArray = nb::ndarray<nb::ro, nb::c_contig>;

struct Close {
  void operator()(upsweep_device* device) const { upsweep_close(device); }
};

// Raises the Python exception for the last failed call.
void check(upsweep_code code) {
  switch (code) {
    case UPSWEEP_OK:
      return;
    case UPSWEEP_INVALID_ARGUMENT:
      throw nb::value_error(upsweep_message());
    case UPSWEEP_UNSUPPORTED:
      throw nb::type_error(upsweep_message());
    case UPSWEEP_OUT_OF_MEMORY:
      PyErr_SetString(PyExc_MemoryError, upsweep_message());
      throw nb::python_error();
    default:
      throw std::runtime_error(upsweep_message());
  }
}

// Returns this thread's device for a stream. A device has one queue and one scratch memory, so streams and threads
// share none.
upsweep_device* device_of(int type, int ordinal, std::uintptr_t stream) {
  thread_local std::map<std::tuple<int, int, std::uintptr_t>, std::unique_ptr<upsweep_device, Close>> devices;
  auto& device = devices[{type, ordinal, stream}];
  if (device) return device.get();
  upsweep_device* opened = nullptr;
  check(type == nb::device::cpu::value ? upsweep_open_cpu(&opened)
                                       : upsweep_open_cuda_on(reinterpret_cast<void*>(stream), ordinal, &opened));
  device.reset(opened);
  return opened;
}

upsweep_type type_of(const nb::dlpack::dtype& type) {
  using Code = nb::dlpack::dtype_code;
  const auto code = static_cast<Code>(type.code);
  if (code == Code::Bool && type.bits == 8) return UPSWEEP_U8;
  if (code == Code::Float && type.bits == 32) return UPSWEEP_F32;
  if (code == Code::Float && type.bits == 64) return UPSWEEP_F64;
  if (code == Code::Int || code == Code::UInt) {
    constexpr upsweep_type types[][2] = {
        {UPSWEEP_I8, UPSWEEP_U8}, {UPSWEEP_I16, UPSWEEP_U16}, {UPSWEEP_I32, UPSWEEP_U32}, {UPSWEEP_I64, UPSWEEP_U64}};
    for (int log = 0; log < 4; ++log)
      if (type.bits == 8 << log) return types[log][code == Code::UInt];
  }
  throw nb::type_error("the elements are neither integers of up to 64 bits, float32, float64 nor bool");
}

// The arrays of one call, kept alive until it is queued.
class Arguments {
 public:
  // Adds an array, or None for one that the call leaves out.
  template <class A>
  void add(nb::handle object) {
    if (object.is_none()) {
      arrays_.push_back({});
      return;
    }
    A array;
    if (!nb::try_cast(object, array, /*convert=*/false))
      throw nb::type_error("an argument is not an array, is not contiguous, or cannot be written");
    if (!found_) {
      found_ = true;
      device_type = array.device_type();
      ordinal = array.device_id();
    } else if (array.device_type() != device_type || array.device_id() != ordinal) {
      throw nb::value_error("the arrays are on different devices");
    }
    arrays_.push_back({const_cast<void*>(static_cast<const void*>(array.data())), array.size(), type_of(array.dtype()),
                       device_type != nb::device::cpu::value});
    if constexpr (std::is_same_v<A, Array>)
      written_.push_back(std::move(array));
    else
      read_.push_back(std::move(array));
  }
  const upsweep_array* data() const { return arrays_.data(); }

  int device_type = nb::device::cpu::value, ordinal = 0;

 private:
  bool found_ = false;
  std::vector<upsweep_array> arrays_;
  std::vector<Array> written_;
  std::vector<ReadOnlyArray> read_;
};

// Takes a name, or what Python takes as an index or as a float.
upsweep_scalar scalar_of(const char* name, nb::handle value) {
  upsweep_scalar scalar{name, nullptr, UPSWEEP_F64, {}};
  if (nb::isinstance<nb::str>(value)) {
    scalar.choice = nb::cast<const char*>(value);
    return scalar;
  }
  if (const nb::object index = nb::steal(PyNumber_Index(value.ptr()))) {
    int overflow = 0;
    scalar.type = UPSWEEP_I64;
    scalar.value.i64 = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
    if (overflow == 0) return scalar;
    scalar.type = UPSWEEP_U64;
    scalar.value.u64 = PyLong_AsUnsignedLongLong(index.ptr());
    if (!PyErr_Occurred()) return scalar;
    PyErr_Clear();
    throw nb::value_error((std::string(name) + " has more than 64 bits").c_str());
  }
  PyErr_Clear();
  scalar.value.f64 = PyFloat_AsDouble(value.ptr());
  if (!PyErr_Occurred()) return scalar;
  PyErr_Clear();
  throw nb::type_error((std::string(name) + " is not a number").c_str());
}

const char* text_or_null(nb::handle text) { return text.is_none() ? nullptr : nb::cast<const char*>(text); }

void run(const char* primitive, nb::object operation, nb::tuple inputs, nb::tuple outputs, nb::dict scalars,
         nb::object rung, std::uintptr_t stream) {
  Arguments arguments;
  for (const nb::handle input : inputs) arguments.add<ReadOnlyArray>(input);
  for (const nb::handle output : outputs) arguments.add<Array>(output);
  std::vector<upsweep_scalar> values;
  for (const auto& [name, value] : scalars) values.push_back(scalar_of(nb::cast<const char*>(name), value));
  upsweep_call call{};
  call.primitive = primitive;
  call.operation = text_or_null(operation);
  call.in = arguments.data();
  call.in_count = inputs.size();
  call.out = arguments.data() + inputs.size();
  call.out_count = outputs.size();
  call.scalars = values.data();
  call.scalar_count = values.size();
  call.rung = text_or_null(rung);
  upsweep_device* const device = device_of(arguments.device_type, arguments.ordinal, stream);
  upsweep_code code;
  {
    const nb::gil_scoped_release released;
    code = upsweep_run(device, &call);
  }
  check(code);
}

}  // namespace

NB_MODULE(_core, m) {
  m.def("run", &run, nb::arg("primitive"), nb::arg("operation").none(), nb::arg("inputs"), nb::arg("outputs"),
        nb::arg("scalars"), nb::arg("rung").none(), nb::arg("stream"));
  m.def("primitives", [] {
    nb::list names;
    for (const char* const* name = upsweep_primitives(); *name; ++name) names.append(nb::str(*name));
    return names;
  });
}

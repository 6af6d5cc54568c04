#include "call.h"

#include <nanobind/stl/string.h>

#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "group.h"
#include "xla.h"

namespace upsweep::python {
namespace {

struct Close {
  void operator()(upsweep_device* device) const { upsweep_close(device); }
};

}  // namespace

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

namespace {

// This thread's devices, one per stream. A device has one queue and one scratch memory, so neither streams nor threads
// share it.
struct Opened {
  dlpack::Device device;
  std::uintptr_t stream;
  std::unique_ptr<upsweep_device, Close> opened;
};
thread_local std::vector<Opened> devices;
thread_local bool borrows_scratch = false;

upsweep_device* device_of(dlpack::Device device, std::uintptr_t stream) {
  for (const Opened& known : devices)
    if (known.device.type == device.type && known.device.id == device.id && known.stream == stream)
      return known.opened.get();
  upsweep_device* opened = nullptr;
  check(device.type == dlpack::cpu ? upsweep_open_cpu(&opened)
                                   : upsweep_open_cuda_on(reinterpret_cast<void*>(stream), device.id, &opened));
  devices.push_back({device, stream, std::unique_ptr<upsweep_device, Close>(opened)});
  return opened;
}

}  // namespace

upsweep_device* opened_device(bool on_gpu, int id) {
  return device_of(on_gpu ? dlpack::Device{dlpack::cuda, id} : dlpack::Device{dlpack::cpu, 0}, 0);
}

Call& Call::add(const Array& array, upsweep_array* seen, const Array** kept, std::size_t& count) {
  if (!first_) first_ = &array;
  // A traced array has no device yet: it will be where the traced program runs.
  if (array.is_staged && (!staged_ || array.is_traced)) staged_ = &array;
  const bool is_anywhere = staged_ && staged_->is_traced;
  if (!is_anywhere && (array.device.type != first_->device.type || array.device.id != first_->device.id))
    throw nb::value_error("the arrays are on different devices");
  kept[count] = &array;
  seen[count++] = {array.data, array.size, array.element->type, array.is_on_gpu()};
  return *this;
}

Call& Call::scalar(const char* name, nb::handle value) {
  upsweep_scalar& scalar = scalars_[call_.scalar_count++] = {name, nullptr, UPSWEEP_F64, {}};
  if (nb::isinstance<nb::str>(value)) {
    scalar.choice = nb::cast<const char*>(value);
    return *this;
  }
  if (const nb::object index = nb::steal(PyNumber_Index(value.ptr()))) {
    int overflow = 0;
    scalar.type = UPSWEEP_I64;
    scalar.value.i64 = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
    if (overflow == 0) return *this;
    scalar.type = UPSWEEP_U64;
    scalar.value.u64 = PyLong_AsUnsignedLongLong(index.ptr());
    if (!PyErr_Occurred()) return *this;
    PyErr_Clear();
    throw nb::value_error((std::string(name) + " has more than 64 bits").c_str());
  }
  PyErr_Clear();
  scalar.value.f64 = PyFloat_AsDouble(value.ptr());
  if (!PyErr_Occurred()) return *this;
  PyErr_Clear();
  throw nb::type_error((std::string(name) + " is not a number").c_str());
}

bool Call::run_by_xla() {
  const Library& library = *staged_->library;
  // A null address means that an array is left out, so staged arrays get this one.
  static char no_address[8];
  nb::list inputs, results;
  for (std::size_t k = 0; k < call_.in_count; ++k) {
    if (!ins_[k]) continue;
    if (ins_[k]->library != &library) return false;
    if (!in_[k].data) in_[k].data = no_address;
    inputs.append(ins_[k]->object());
  }
  for (std::size_t k = 0; k < call_.out_count; ++k) {
    if (outs_[k]) {
      if (outs_[k]->library != &library) return false;
      if (!out_[k].data) out_[k].data = no_address;
      results.append(nb::make_tuple(outs_[k]->shape_tuple(), outs_[k]->result->element->name));
    } else if (numbers_[k]) {
      if (staged_->is_traced)
        throw nb::type_error("an array under jax.jit has no values yet, on which the length of a result depends");
      results.append(nb::make_tuple(nb::make_tuple(1), numbers_[k]->name));
    }
  }
  const nb::object made =
      library.hooks.attr("call")(text_of(call_, borrows_scratch), nb::tuple(inputs), nb::tuple(results));
  if (made.is_none()) return false;
  std::size_t next = 0;
  for (std::size_t k = 0; k < call_.out_count; ++k) {
    if (outs_[k])
      outs_[k]->result->object = made[next++];
    else if (numbers_[k])
      *static_cast<std::uint64_t*>(out_[k].data) = nb::cast<std::uint64_t>(library.hooks.attr("number")(made[next++]));
  }
  return true;
}

void Call::place() {
  if (staged_->is_traced) throw nb::type_error("arrays under jax.jit go only with arrays of JAX's");
  const Library& library = *staged_->library;
  const auto is_staged = [](const Array* array) { return array && array->is_staged; };
  for (std::size_t k = 0; k < call_.in_count; ++k)
    if (is_staged(ins_[k])) in_[k].data = ins_[k]->placed().data;
  for (std::size_t k = 0; k < call_.out_count; ++k) {
    if (!is_staged(outs_[k])) continue;
    const Array& out = *outs_[k];
    out.result->object = library.hooks.attr("empty")(out.shape_tuple(), out.result->element->name, staged_->object());
    out_[k].data = out.placed().data;
  }
}

void Call::run() {
  call_.in = in_;
  call_.out = out_;
  call_.scalars = scalars_;
  if (staged_) {
    if (run_by_xla()) return;
    place();
  }
  upsweep_device* const device = device_of(first_->device, first_->stream());
  if (Group* const group = entered_group()) return run_in(*group, device);

  // During graph capture, scratch memory must live as long as the graph. Memory that the array library allocates then
  // does; the device's scratch may be replaced by a later call. Without a capture, the library's memory may be freed
  // once the call is queued, because its allocator hands the memory only to later work on the stream.
  upsweep_array scratch{};
  Array memory;
  if (first_->is_on_gpu() && !staged_) {
    int is_capturing = 0;
    if (!borrows_scratch) check(upsweep_is_capturing(device, &is_capturing));
    std::size_t bytes = 0;
    if (borrows_scratch || is_capturing) check(upsweep_scratch_bytes(device, &call_, &bytes));
    if (bytes > 0) {
      memory = first_->empty(bytes, unsigned_of(8));
      scratch = {memory.data, bytes, UPSWEEP_U8, 1};
      call_.scratch = &scratch;
    }
  }

  // Releasing and reacquiring the GIL takes as long as a call on few elements.
  constexpr std::size_t few = 4096;
  std::optional<nb::gil_scoped_release> released;
  if (first_->is_on_gpu() || first_->size > few) released.emplace();
  upsweep_code code = upsweep_run(device, &call_);
  if (code == UPSWEEP_OK && first_->library->is_jax) code = upsweep_synchronize(device);
  released.reset();
  check(code);
}

void Call::run_in(Group& group, upsweep_device* device) {
  if (first_->is_on_gpu() != group.on_gpu())
    throw nb::value_error(group.on_gpu() ? "the group is of GPUs, the arrays are on the CPU"
                                         : "the group is of CPUs, the arrays are on a GPU");
  upsweep_code code;
  {
    const nb::gil_scoped_release released;
    code = upsweep_synchronize(device);  // the group's device has a stream of its own
    if (code == UPSWEEP_OK) code = upsweep_run_in_group(group.opened(), &call_);
  }
  group.rethrow();
  check(code);
}

nb::list rungs(const char* primitive, const std::string& device) {
  const bool is_gpu = device.starts_with("cuda");
  int id = 0;
  const char* const end = device.data() + device.size();
  if (device != "cpu" && device != "cuda" &&
      !(device.starts_with("cuda:") && std::from_chars(device.data() + 5, end, id).ptr == end && end[-1] != ':'))
    throw nb::value_error(("device is '" + device + "', not cpu, cuda or cuda:1").c_str());
  upsweep_device* const opened =
      device_of(is_gpu ? dlpack::Device{dlpack::cuda, id} : dlpack::Device{dlpack::cpu, 0}, 0);
  const char* const* name = upsweep_rungs(opened, primitive);
  if (!name) throw nb::value_error((std::string("there is no primitive '") + primitive + "'").c_str());
  nb::list names;
  for (; *name; ++name) names.append(nb::str(*name));
  return names;
}

bool exchange_borrows_scratch(bool borrows) { return std::exchange(borrows_scratch, borrows); }

void close_devices() {
  devices.clear();
  close_xla_devices();
}

}  // namespace upsweep::python

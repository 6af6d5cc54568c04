// A call of the C interface, built from arrays, which must outlive it.
#pragma once
#include "array.h"

namespace upsweep::python {

class Group;

class Call {
 public:
  // An empty `rung` selects the default.
  Call(const char* primitive, const char* operation, const char* rung) {
    call_.primitive = primitive;
    call_.operation = operation;
    call_.rung = *rung ? rung : nullptr;
  }
  Call& in(const Array& array) { return add(array, in_, ins_, call_.in_count); }
  Call& out(const Array& array) { return add(array, out_, outs_, call_.out_count); }
  // Omit an optional array that is followed by another one.
  Call& without_in() {
    ins_[call_.in_count] = nullptr;
    in_[call_.in_count++] = {};
    return *this;
  }
  Call& without_out() {
    outs_[call_.out_count] = nullptr;
    numbers_[call_.out_count] = nullptr;
    out_[call_.out_count++] = {};
    return *this;
  }
  // Adds an output of one element in host memory. run() waits until it is written.
  Call& host_out(std::uint64_t& number, const Element& of = unsigned_of(64)) {
    outs_[call_.out_count] = nullptr;
    numbers_[call_.out_count] = &of;
    out_[call_.out_count++] = {&number, 1, of.type, 0};
    return *this;
  }
  Call& integer(const char* name, std::int64_t value) {
    scalars_[call_.scalar_count++] = {name, nullptr, UPSWEEP_I64, {.i64 = value}};
    return *this;
  }
  Call& choice(const char* name, const char* value) {
    scalars_[call_.scalar_count++] = {name, value, UPSWEEP_I64, {}};
    return *this;
  }
  Call& number(const char* name, double value) {
    scalars_[call_.scalar_count++] = {name, nullptr, UPSWEEP_F64, {.f64 = value}};
    return *this;
  }
  Call& flag(const char* name, bool value) { return integer(name, value); }
  // Adds a scalar. `value` is the name of a choice, or anything that Python converts to an index or a float.
  Call& scalar(const char* name, nb::handle value);

  // Runs the call on the current stream of its first array's library. Throws a Python exception if it fails.
  void run();

 private:
  static constexpr int most = 16;  // of inputs, of outputs and of scalars; a contract has fewer

  Call& add(const Array& array, upsweep_array* seen, const Array** kept, std::size_t& count);
  // Runs the call with the parts of all processes.
  void run_in(Group& group, upsweep_device* device);
  // Runs the call as an XLA program. Returns false, without running it, if some of its arrays are not JAX's, or if XLA
  // would have to compile too many programs.
  bool run_by_xla();
  // Allocates JAX's results, waits for JAX's inputs, and sets the addresses of both.
  void place();

  upsweep_call call_{};
  upsweep_array in_[most], out_[most];
  upsweep_scalar scalars_[most];
  const Array *ins_[most], *outs_[most];  // null: left out, or a number
  const Element* numbers_[most];          // types of the outputs that are numbers; null: left out
  const Array* first_ = nullptr;
  const Array* staged_ = nullptr;  // a JAX array, traced if any of them is; null: there is none
};

// Raises the Python exception of the last failed call; does nothing if the code is UPSWEEP_OK.
void check(upsweep_code code);

// Returns this thread's device of the CPU, or of a GPU and its default stream.
upsweep_device* opened_device(bool on_gpu, int id);

// Returns the names of a primitive's rungs. `device` is "cpu", "cuda", or "cuda:1" for a GPU other than the first.
// Throws ValueError for an unknown name, RuntimeError if there is no such GPU.
nb::list rungs(const char* primitive, const std::string& device);

// Sets whether this thread's calls on GPUs take scratch memory from their arrays' library. Returns the previous
// setting.
bool exchange_borrows_scratch(bool borrows);

// Closes this thread's devices, and those that the XLA handlers are not using.
void close_devices();

}  // namespace upsweep::python

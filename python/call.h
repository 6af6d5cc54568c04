// A call of the C interface, put together from arrays, which must outlive it.
#pragma once
#include "array.h"

namespace upsweep::python {

class Call {
 public:
  // `rung` "": the default.
  Call(const char* primitive, const char* operation, const char* rung) {
    call_.primitive = primitive;
    call_.operation = operation;
    call_.rung = *rung ? rung : nullptr;
  }
  Call& in(const Array& array) { return add(in_[call_.in_count++], array); }
  Call& out(const Array& array) { return add(out_[call_.out_count++], array); }
  // Leaves out an array that another follows.
  Call& without_in() {
    in_[call_.in_count++] = {};
    return *this;
  }
  Call& without_out() {
    out_[call_.out_count++] = {};
    return *this;
  }
  // An output of one element in host memory, for which run() waits.
  Call& host_out(std::uint64_t& number, const Element& of = unsigned_of(64)) {
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
  // Takes the name of a choice, or what Python takes as an index or as a float.
  Call& scalar(const char* name, nb::handle value);

  // Runs the call on the current stream of its first array's library. Throws the Python exception of a failure.
  void run();

 private:
  static constexpr int most = 16;  // arrays in each direction, and scalars; a contract has fewer

  Call& add(upsweep_array& to, const Array& array);

  upsweep_call call_{};
  upsweep_array in_[most], out_[most];
  upsweep_scalar scalars_[most];
  const Array* first_ = nullptr;
};

// The names of a primitive's rungs. `device`: "cpu" or "cuda", or "cuda:1" for another GPU than the first. Throws
// ValueError for an unknown name, RuntimeError if there is no such GPU.
nb::list rungs(const char* primitive, const std::string& device);

// Tells whether this thread's calls take scratch memory in GPUs from their arrays' library. Returns what was before.
bool exchange_borrows_scratch(bool borrows);

// Closes this thread's devices.
void close_devices();

}  // namespace upsweep::python

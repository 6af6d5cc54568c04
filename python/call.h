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
  Call& in(const Array& array) { return add(array, in_, ins_, call_.in_count); }
  Call& out(const Array& array) { return add(array, out_, outs_, call_.out_count); }
  // Leaves out an array that another follows.
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
  // An output of one element in host memory, for which run() waits.
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
  // Takes the name of a choice, or what Python takes as an index or as a float.
  Call& scalar(const char* name, nb::handle value);

  // Runs the call on the current stream of its first array's library. Throws the Python exception of a failure.
  void run();

 private:
  static constexpr int most = 16;  // arrays in each direction, and scalars; a contract has fewer

  Call& add(const Array& array, upsweep_array* seen, const Array** kept, std::size_t& count);
  // Runs the call as a program of XLA's. Returns false if it has other arrays than JAX's, or if XLA would have to
  // compile too many programs.
  bool run_by_xla();
  // Makes JAX's results, waits for its inputs, and finds the elements of both.
  void place();

  upsweep_call call_{};
  upsweep_array in_[most], out_[most];
  upsweep_scalar scalars_[most];
  const Array *ins_[most], *outs_[most];  // null: left out, or a number
  const Element* numbers_[most];          // of outputs that are not arrays; null: left out
  const Array* first_ = nullptr;
  const Array* staged_ = nullptr;  // one of JAX's, a traced one if there is any
};

// The names of a primitive's rungs. `device`: "cpu" or "cuda", or "cuda:1" for another GPU than the first. Throws
// ValueError for an unknown name, RuntimeError if there is no such GPU.
nb::list rungs(const char* primitive, const std::string& device);

// Tells whether this thread's calls take scratch memory in GPUs from their arrays' library. Returns what was before.
bool exchange_borrows_scratch(bool borrows);

// Closes this thread's devices, and those of XLA's programs.
void close_devices();

}  // namespace upsweep::python

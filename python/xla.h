// Calls inside XLA programs, which JAX compiles and runs.
#pragma once
#include <nanobind/nanobind.h>

#include <string>

#include "upsweep.h"

namespace upsweep::python {

namespace nb = nanobind;

// Returns a call as text, without its addresses; a handler decodes and runs it. With `borrows_scratch`, the handler
// takes scratch memory from XLA.
std::string text_of(const upsweep_call& call, bool borrows_scratch);

// Returns the capsule of the handler that runs such calls, for jax.ffi.register_ffi_target(). `platform`: "cpu" or
// "CUDA".
nb::object xla_handler(const char* platform);

// Closes the handlers' devices that are not in use.
void close_xla_devices();

}  // namespace upsweep::python

// Shared by the calls that run a user-defined functor in a kernel.
#pragma once
#include <string>
#include <string_view>

#include "base/platform.h"
#include "kernel/kernel.h"
#include "kernel/unit.h"
#include "upsweep/device.h"
#include "upsweep/error.h"
#include "upsweep/invoke.h"
#include "upsweep/view.h"

namespace upsweep::detail {

// True for a __device__ lambda. Host code cannot call it, so its signature cannot be checked.
template <class F>
inline constexpr bool is_device_lambda =
#ifdef __CUDACC_EXTENDED_LAMBDA__
    __nv_is_extended_device_lambda_closure_type(F);
#else
    false;
#endif

// Activates the device for a launch. Throws Error(unsupported) if it cannot run this program's kernels; `instead` names
// the alternative for the CPU.
inline void require_kernels_on(const Device& device, const std::string& call, const char* instead) {
  if (device.backend() != kernel_backend)
    throw Error(Code::unsupported, call + ": " + device.name() + " does not run this kernel",
                std::string("on the CPU, use ") + instead);
  device.platform().activate();
}

// Returns a view that a kernel can use. Throws Error(invalid_argument) for host memory or memory of another device.
template <class A>
auto view_on(const Device& device, A&& array, const char* name) {
  const auto v = view(array);
  if (v.place() == Place::host)
    throw Error(Code::invalid_argument, std::string(name) + " is in host memory; the kernel runs on " + device.name(),
                "copy it into a Buffer");
  if (v.size()) require_on(device, v.data(), v.owner(), name);
  return v;
}

inline void require_success(Status status, const std::string& call) {
  if (!status) throw Error(status.code, call + " failed: " + (status.message ? status.message : "no message"));
}

template <class Rung>
constexpr std::string_view find_name() {
  // "... [with Rung = upsweep::ladders::scan::wave; ...]"; some compilers omit "with", the blanks or the rest.
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.rfind('['));
  text.remove_prefix(text.find("Rung"));
  text = text.substr(0, text.find_first_of(";]"));
  text.remove_prefix(text.find_last_of(": =") + 1);
  return text;
}
// The name of a rung's struct, without its namespaces.
template <class Rung>
inline constexpr std::string_view name_of = find_name<Rung>();

// Runs the one of First and Others that is called `name`, which the ladder's choose() has returned.
template <class First, class... Others, class Args>
Status run_named(std::string_view name, const Args& args) {
  if (name == name_of<First>) return First::run(args);
  if constexpr (sizeof...(Others) > 0)
    return run_named<Others...>(name, args);
  else
    return {Code::unsupported, 0, "no rung for this device"};
}

}  // namespace upsweep::detail

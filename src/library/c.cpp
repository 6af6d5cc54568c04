// The C interface, upsweep.h: finds contracts, operations and scalars by name, and turns exceptions into codes.
#include "library/c.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "base/contract.h"
#include "base/platform.h"

namespace upsweep {
namespace {

static_assert(UPSWEEP_DEVICE_ERROR == static_cast<int>(Code::device_error));
static_assert(UPSWEEP_LOST_MEMBER == static_cast<int>(Code::lost_member));
static_assert(UPSWEEP_BF16 == static_cast<int>(Type::bf16));

using namespace c;

thread_local std::string message;

AnyView view_of(const upsweep_array& array) {
  if (array.type < UPSWEEP_I8 || array.type > UPSWEEP_BF16)
    throw Error(Code::invalid_argument, "an array has the type " + std::to_string(array.type),
                "use an enumerator of upsweep_type");
  AnyView view;
  view.type = static_cast<Type>(array.type);
  view.count = array.count;
  view.data = array.data;
  view.place = array.on_device ? Place::device : Place::host;
  return view;
}

template <std::size_t most>
void take_arrays(std::array<AnyView, most>& to, const upsweep_array* from, std::size_t count, const Contract& contract,
                 const char* which, std::size_t known) {
  if (count > known)
    refuse(contract.name, "it has " + std::to_string(known) + " " + which + ", not " + std::to_string(count));
  if (count > 0) require(from, which);
  for (std::size_t k = 0; k < count; ++k) to[k] = view_of(from[k]);
}

Operation operation_of(const Contract& contract, const char* name) {
  if (!name) return {};
  std::string hint = "its operations:";
  for (const ListedOperation& listed : contract.operations) {
    if (listed.operation.name() == name) return listed.operation;
    hint.append(" ").append(listed.operation.name());
  }
  throw Error(Code::unsupported, std::string(contract.name) + " has no operation '" + name + "'", hint);
}

// Converts a number to T. Throws Error(invalid_argument) if T cannot hold it.
template <class T>
T number_of(std::string_view who, const upsweep_scalar& scalar) {
  const auto converted = [&](auto value) -> T {
    using V = decltype(value);
    bool fits = true;
    if constexpr (std::is_integral_v<T> && std::is_floating_point_v<V>) {
      // The first power of two past T's range, which a double holds exactly.
      const double end = std::ldexp(1.0, std::numeric_limits<T>::digits);
      fits = value >= (std::is_signed_v<T> ? -end : 0) && value < end && value == std::floor(value);
    } else if constexpr (std::is_integral_v<T>) {
      fits = std::in_range<T>(value);
    }
    if (!fits)
      refuse(who, std::string(scalar.name) + " is " + std::to_string(value) + ", which its type, " +
                      std::string(to_string(type_of<T>())) + ", cannot hold");
    return static_cast<T>(static_cast<Computed<T>>(value));
  };
  switch (scalar.type) {
    case UPSWEEP_I64:
      return converted(scalar.value.i64);
    case UPSWEEP_U64:
      return converted(scalar.value.u64);
    case UPSWEEP_F64:
      return converted(scalar.value.f64);
    default:
      break;
  }
  refuse(who, std::string(scalar.name) + " is given as neither i64, u64 nor f64");
}

Scalar scalar_of(const Contract& contract, const Parameter& parameter, const upsweep_scalar& scalar, Type element,
                 Type result) {
  using Kind = Parameter::Kind;
  if (parameter.kind == Kind::choice) {
    const auto found = std::find(parameter.choices.begin(), parameter.choices.end(),
                                 std::string_view(require(scalar.choice, scalar.name)));
    if (found != parameter.choices.end()) {
      enum class Choice : std::uint8_t {};
      return static_cast<Choice>(found - parameter.choices.begin());
    }
    std::string hint = "there are:";
    for (const std::string_view choice : parameter.choices) hint.append(" ").append(choice);
    refuse(contract.name, std::string(parameter.name) + " is not '" + scalar.choice + "'", hint);
  }
  if (scalar.choice) refuse(contract.name, std::string(parameter.name) + " is '" + scalar.choice + "', not a number");
  switch (parameter.kind) {
    case Kind::flag:
      return number_of<std::uint8_t>(contract.name, scalar) != 0;
    case Kind::integer:
      return number_of<std::uint64_t>(contract.name, scalar);
    case Kind::real:
      return number_of<double>(contract.name, scalar);
    default:
      break;
  }
  return visit_any(parameter.kind == Kind::result ? result : element,
                   [&]<class T>(TypeTag<T>) -> Scalar { return number_of<T>(contract.name, scalar); });
}

void take_scalars(Request& request, const upsweep_call& call) {
  const Contract& contract = *request.contract;
  if (call.scalar_count > 0) require(call.scalars, "scalars");
  for (std::size_t k = 0; k < call.scalar_count; ++k) {
    const upsweep_scalar& scalar = call.scalars[k];
    const auto found = std::find_if(contract.scalars.begin(), contract.scalars.end(), [&](const Parameter& parameter) {
      return parameter.name == require(scalar.name, "the name of a scalar");
    });
    if (found == contract.scalars.end()) {
      std::string hint = contract.scalars.empty() ? "it has none" : "there are:";
      for (const Parameter& parameter : contract.scalars) hint.append(" ").append(parameter.name);
      refuse(contract.name, "it has no scalar '" + std::string(scalar.name) + "'", hint);
    }
    request.scalars[static_cast<std::size_t>(found - contract.scalars.begin())] =
        scalar_of(contract, *found, scalar, request.in[0].type, request.out[0].type);
  }
}

}  // namespace

namespace c {

upsweep_code failed(Code code, std::string text) {
  message = std::move(text);
  return static_cast<upsweep_code>(code);
}

Request request_of(const upsweep_call& call) {
  Request request;
  request.contract = find_contract(require(call.primitive, "the name of the primitive"));
  if (!request.contract) {
    std::string hint = "there are:";
    for (const Contract* contract : contracts()) hint.append(" ").append(contract->name);
    throw Error(Code::invalid_argument, std::string("there is no primitive '") + call.primitive + "'", hint);
  }
  const Contract& contract = *request.contract;
  request.operation = operation_of(contract, call.operation);
  take_arrays(request.in, call.in, call.in_count, contract, "inputs", contract.inputs.size());
  take_arrays(request.out, call.out, call.out_count, contract, "outputs", contract.outputs.size());
  take_scalars(request, call);
  return request;
}

}  // namespace c

namespace {

Options options_of(const upsweep_call& call) {
  return {.rung = call.rung ? call.rung : "",
          .block = call.block,
          .grid = call.grid,
          .threads = call.threads,
          .scratch = call.scratch ? view_of(*call.scratch) : AnyView()};
}

template <class Make>
upsweep_code open(upsweep_device** device, Make&& make) {
  return guarded([&] {
    upsweep_device*& opened = *require(device, "device");
    opened = new upsweep_device{make(), {}};
  });
}

}  // namespace
}  // namespace upsweep

using namespace upsweep;

upsweep_code upsweep_open_cpu(upsweep_device** device) {
  return open(device, [] { return Device::cpu(); });
}
upsweep_code upsweep_open_cuda(int ordinal, upsweep_device** device) {
  return open(device, [=] { return Device::cuda(ordinal); });
}
upsweep_code upsweep_open_cuda_on(void* stream, int ordinal, upsweep_device** device) {
  return open(device, [=] { return Device::cuda_on(stream, ordinal); });
}
void upsweep_close(upsweep_device* device) { delete device; }
upsweep_code upsweep_synchronize(upsweep_device* device) {
  return guarded([&] { require(device, "device")->device.synchronize(); });
}

upsweep_code upsweep_run(upsweep_device* device, const upsweep_call* call) {
  return guarded([&] {
    Device& of_call = require(device, "device")->device;
    const Request request = request_of(*require(call, "call"));
    invoke(of_call, request, options_of(*call));
  });
}
upsweep_code upsweep_scratch_bytes(upsweep_device* device, const upsweep_call* call, size_t* bytes) {
  return guarded([&] {
    Device& of_call = require(device, "device")->device;
    const Request request = request_of(*require(call, "call"));
    *require(bytes, "bytes") = scratch_bytes(of_call, request, options_of(*call));
  });
}
upsweep_code upsweep_is_capturing(upsweep_device* device, int* is_capturing) {
  return guarded([&] { *require(is_capturing, "is_capturing") = require(device, "device")->device.is_capturing(); });
}

const char* upsweep_message(void) { return message.c_str(); }

const char* const* upsweep_primitives(void) {
  static const Names names = [] {
    Names all;
    for (const Contract* contract : contracts()) all.add(contract->name);
    return all;
  }();
  return names.data();
}
const char* const* upsweep_operations(const char* primitive) {
  static const std::map<std::string, Names, std::less<>> names = [] {
    std::map<std::string, Names, std::less<>> all;
    for (const Contract* contract : contracts()) {
      Names& of_contract = all[std::string(contract->name)];
      for (const ListedOperation& listed : contract->operations) of_contract.add(listed.operation.name());
    }
    return all;
  }();
  const auto found = names.find(primitive ? std::string_view(primitive) : std::string_view());
  return found == names.end() ? nullptr : found->second.data();
}
const char* const* upsweep_rungs(upsweep_device* device, const char* primitive) {
  const Contract* const contract = device && primitive ? find_contract(primitive) : nullptr;
  if (!contract) return nullptr;
  const auto [found, is_new] = device->rungs.try_emplace(primitive);
  if (is_new)
    for (const Rung* rung : device->device.platform().rungs_of(*contract))
      if (!rung->expected_wrong) found->second.add(rung->name);
  return found->second.data();
}

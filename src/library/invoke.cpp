// Resolves a request to a rung and runs it. Every call of the library passes through here.
#include "upsweep/invoke.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "library/device_state.h"

namespace upsweep {
namespace {

std::string describe(const Rung& rung, const Call& c) {
  std::string text = std::string(rung.primitive) + "/" + std::string(rung.name) + ", ";
  if (c.operation) text += std::string(c.operation.name()) + " of ";
  return text + std::to_string(c.n()) + " " + std::string(to_string(c.type())) + " on " +
         std::string(to_string(rung.backend));
}

// Throws if an array of a request is null, misaligned, or not this device's.
void require_usable(const Device& device, const Contract& contract, std::string_view name, const AnyView& v) {
  if (v.count == 0) return;
  if (!v.data) refuse(contract.name, std::string(name) + " is null but has " + std::to_string(v.count) + " elements");
  if (reinterpret_cast<std::uintptr_t>(v.data) % size_of(v.type))
    refuse(contract.name, std::string(name) + " is not aligned to its element, " + std::string(to_string(v.type)),
           "any offset of whole elements will do");
  if (v.place == Place::device) detail::require_on(device, v.data, v.owner, name);
}

bool overlap(const void* a, std::size_t a_bytes, const void* b, std::size_t b_bytes) {
  const auto x = reinterpret_cast<std::uintptr_t>(a), y = reinterpret_cast<std::uintptr_t>(b);
  return a_bytes && b_bytes && x < y + b_bytes && y < x + a_bytes;
}

// Throws if an output overlaps anything except an input that it may replace.
void require_apart(const Contract& contract, const Call& c) {
  for (std::size_t k = 0; k < contract.outputs.size(); ++k) {
    const OutputRole& output = contract.outputs[k];
    const std::size_t bytes = c.out[k].data ? contract.room(c, k) * size_of(c.out[k].type) : 0;
    for (std::size_t j = 0; j < contract.inputs.size(); ++j) {
      if (c.out[k].data == c.in[j].data && output.may_be >> j & 1) continue;
      if (overlap(c.out[k].data, bytes, c.in[j].data, c.in[j].bytes()))
        refuse(contract.name, std::string(output.name) + " overlaps " + std::string(contract.inputs[j].name),
               output.may_be >> j & 1 ? "it may be the same memory, or none of it" : "");
    }
    for (std::size_t j = 0; j < k; ++j)
      if (overlap(c.out[k].data, bytes, c.out[j].data, contract.room(c, j) * size_of(c.out[j].type)))
        refuse(contract.name, std::string(output.name) + " overlaps " + std::string(contract.outputs[j].name));
  }
}

// Returns the contract's own operation of that name; empty if the primitive leaves no choice. Throws
// Error(unsupported) if the contract has no such operation.
Operation known_operation(const Contract& contract, Operation asked) {
  const auto& known = contract.operations;
  if (known.empty() && !asked) return {};
  for (const ListedOperation& listed : known)
    if (asked && listed.operation == asked) return listed.operation;
  std::string hint = known.empty() ? "leave the operation out" : "its operations:";
  for (const ListedOperation& listed : known) hint.append(" ").append(listed.operation.name());
  throw Error(Code::unsupported,
              std::string(contract.name) +
                  (asked ? " has no operation '" + std::string(asked.name()) + "'" : ": no operation is named"),
              hint);
}

Type type_of_scalar(const Parameter& parameter, Type element) {
  switch (parameter.kind) {
    case Parameter::Kind::element:
      return element;
    case Parameter::Kind::integer:
      return Type::u64;
    case Parameter::Kind::real:
      return Type::f64;
    default:
      return Type::u8;  // flags and enumerators
  }
}

// The shortest decimal that reads back the same; NaN without a sign.
std::string shortest(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, std::isnan(value) ? NAN : value).ptr};
}

void require_bounds(const Contract& contract, const Parameter& parameter, const Scalar& scalar) {
  const bool is_integer = parameter.kind == Parameter::Kind::integer;
  if (!is_integer && parameter.kind != Parameter::Kind::real) return;
  if (std::isinf(parameter.least) && std::isinf(parameter.most)) return;
  const double value = is_integer ? static_cast<double>(scalar.as<std::uint64_t>()) : scalar.as<double>();
  if (value >= parameter.least && value <= parameter.most) return;
  refuse(contract.name, std::string(parameter.name) + " is " + shortest(value) + ", which is not in [" +
                            shortest(parameter.least) + ", " + shortest(parameter.most) + "]");
}

void require_scalars(const Contract& contract, const Call& c) {
  for (std::size_t k = 0; k < contract.scalars.size(); ++k) {
    if (contract.reads_scalar && !contract.reads_scalar(c, k)) continue;
    const Parameter& parameter = contract.scalars[k];
    const Type given = c.scalars[k].type(), needed = type_of_scalar(parameter, c.type());
    const std::string is = std::string(parameter.name) + " is " + std::string(to_string(given));
    if (given != needed && parameter.kind == Parameter::Kind::element)
      refuse(contract.name, is + ", the elements are " + std::string(to_string(needed)));
    if (given != needed) refuse(contract.name, is + ", not " + std::string(to_string(needed)));
    if (parameter.kind == Parameter::Kind::choice && c.scalars[k].as<std::uint8_t>() >= parameter.choices.size())
      refuse(contract.name, std::string(parameter.name) + " is none of its " +
                                std::to_string(parameter.choices.size()) + " enumerators");
    require_bounds(contract, parameter, c.scalars[k]);
  }
}

void require_elements(const Contract& contract, const Request& request, Call call, Backend backend) {
  if (!contract.validate_elements) return;
  for (std::size_t k = 0; k < contract.inputs.size(); ++k)
    if (backend != Backend::cpu && request.in[k].place == Place::device) call.in[k].data = nullptr;
  contract.validate_elements(call);
}

RunFn resolve_run(detail::DeviceState& state, const Rung& rung, const Call& call) {
  return detail::resolve_run(rung, call.type(), call.operation, call.n(), state.platform.machine());
}

void run_or_throw(detail::DeviceState& state, const Rung& rung, RunFn run, const Call& call) {
  state.platform.activate();
  if (const Status status = run(call); !status)
    throw Error(status.code, describe(rung, call) + ": " + (status.message ? status.message : "failed"));
}

// Device copies of a call's host arrays, in one piece of scratch, each aligned like an allocation of its own.
class Staging {
 public:
  Staging(const Contract& contract, const Request& request, const Call& call) : contract_(contract), request_(request) {
    for (std::size_t k = 0; k < contract.inputs.size(); ++k)
      if (request.in[k].place == Place::host) in_[k] = add(call.in[k].bytes());
    for (std::size_t k = 0; k < contract.outputs.size(); ++k)
      if (request.out[k].place == Place::host && request.out[k].data)
        if (out_[k] = in_place_of_input(call, k); !out_[k])
          out_[k] = add(contract.room(call, k) * size_of(call.out[k].type));
  }
  std::size_t bytes() const { return bytes_; }

  // Points the call at the copies, which start at `base`, and fills those of the inputs.
  void copy_in(detail::DeviceState& state, std::byte* base, Call& call) const {
    for (std::size_t k = 0; k < contract_.inputs.size(); ++k)
      if (in_[k]) {
        call.in[k].data = base + *in_[k];
        if (request_.in[k].count)
          state.platform.copy_in(call.in[k].data, request_.in[k].data, call.in[k].bytes(), state.stream);
      }
    for (std::size_t k = 0; k < contract_.outputs.size(); ++k)
      if (out_[k]) call.out[k].data = base + *out_[k];
  }
  // Copies the written elements back, and waits.
  void copy_out(detail::DeviceState& state, const Call& call) const {
    std::uint64_t counted = call.n();
    if (const int k = contract_.count_output; k != Contract::no_count) {
      state.platform.copy_out(&counted, call.out[static_cast<std::size_t>(k)].data, sizeof counted, state.stream);
      state.platform.synchronize(state.stream);
    }
    for (std::size_t k = 0; k < contract_.outputs.size(); ++k)
      if (out_[k])
        if (const std::size_t elements = contract_.written(call, k, counted))
          state.platform.copy_out(request_.out[k].data, call.out[k].data, elements * size_of(call.out[k].type),
                                  state.stream);
    state.platform.synchronize(state.stream);
  }

 private:
  // Reserves `bytes` and returns their offset; no two arrays start at the same offset, not even empty ones.
  std::size_t add(std::size_t bytes) { return std::exchange(bytes_, bytes_ + (bytes / 256 + 1) * 256); }
  // An output that may replace an input of the same type, and is no longer, does so in the copies: half the memory.
  std::optional<std::size_t> in_place_of_input(const Call& call, std::size_t k) const {
    for (std::size_t j = contract_.inputs.size(); j-- > 0;)
      if (contract_.outputs[k].may_be >> j & 1 && in_[j] && call.in[j].type == call.out[k].type &&
          contract_.room(call, k) <= call.in[j].count)
        return in_[j];
    return std::nullopt;
  }
  const Contract& contract_;
  const Request& request_;
  std::array<std::optional<std::size_t>, arrays_of_a_call> in_{}, out_{};  // offsets
  std::size_t bytes_ = 0;
};

}  // namespace

void invoke(Device& device, const Request& request, const Options& options) {
  detail::DeviceState& state = *device.state();
  if (!request.contract) {
    std::string names;
    for (const Contract* contract : contracts()) names.append(" ").append(contract->name);
    refuse("invoke", "there is no contract", "find_contract() takes" + names);
  }
  const Contract& contract = *request.contract;
  const Rung* rung = options.rung.empty() ? nullptr : &detail::named_rung(state, contract, options.rung);
  if (options.block > 1024)
    refuse(contract.name, "a block of " + std::to_string(options.block) + " threads",
           "a block has at most 1024 threads; 0 leaves the choice to the rung");

  Call call{
      .operation = known_operation(contract, request.operation),
      .scalars = request.scalars,
      .tuning = {.block = options.block, .grid = options.grid, .threads = options.threads},
      .workspace = &state.workspace,
      .stream = state.stream};
  bool on_host = false;
  for (std::size_t k = 0; k < contract.inputs.size(); ++k) {
    const AnyView& v = request.in[k];
    require_usable(device, contract, contract.inputs[k].name, v);
    call.in[k] = {v.type, v.count, v.data};
    on_host |= v.place == Place::host && v.data;
  }
  for (std::size_t k = 0; k < contract.outputs.size(); ++k) {
    const AnyView& v = request.out[k];
    require_usable(device, contract, contract.outputs[k].name, v);
    call.out[k] = {v.type, v.count, v.data};
    on_host |= v.place == Place::host && v.data;
  }
  // A rung that was named is refused for what it does not take before the arrays are for what they lack.
  RunFn run = rung ? resolve_run(state, *rung, call) : nullptr;
  contract.complete(call);
  require_scalars(contract, call);
  contract.require_arrays(call);
  if (!rung) {
    rung = &detail::chosen_rung(state, contract, call);
    run = resolve_run(state, *rung, call);
  }
  require_apart(contract, call);
  require_elements(contract, request, call, state.backend);

  if (state.backend == Backend::cpu || !on_host) return run_or_throw(state, *rung, run, call);
  if (rung->from_host()) {
    run_or_throw(state, *rung, run, call);
    return state.platform.synchronize(state.stream);
  }
  const Staging staging(contract, request, call);
  auto* const base = static_cast<std::byte*>(state.staging.scratch(staging.bytes()));
  if (!base && options.rung.empty()) {
    call.arrays = MemoryKind::pageable;
    rung = &detail::chosen_rung(state, contract, call);
    if (rung->from_host()) {
      run_or_throw(state, *rung, resolve_run(state, *rung, call), call);
      return state.platform.synchronize(state.stream);
    }
  }
  if (!base)
    throw Error(
        Code::out_of_memory,
        describe(*rung, call) + ": no device memory for copies of " + std::to_string(staging.bytes()) + " bytes",
        "work on the arrays in parts");
  staging.copy_in(state, base, call);
  run_or_throw(state, *rung, run, call);
  staging.copy_out(state, call);
}

namespace detail {

void require_on(const Device& device, const void* data, const Platform* owner, std::string_view name) {
  if (owner ? owner == &device.platform() : device.platform().reaches(data)) return;
  throw Error(Code::invalid_argument, std::string(name) + " is in another device's memory than " + device.name(),
              owner ? "make the buffer with the device that uses it" : "pass host memory as a range or a host_view");
}

}  // namespace detail
}  // namespace upsweep

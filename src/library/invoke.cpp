// Resolves a request to a rung and runs it. Every call of the library passes through here.
#include "upsweep/invoke.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <tuple>
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

// Throws if an array of a request is null or misaligned, or is a device array that is not in this device's memory.
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
      const bool alike = c.out[k].type == c.in[j].type, may_be = output.may_be >> j & 1;
      if (c.out[k].data == c.in[j].data && may_be && alike) continue;
      if (overlap(c.out[k].data, bytes, c.in[j].data, c.in[j].bytes()))
        refuse(contract.name, std::string(output.name) + " overlaps " + std::string(contract.inputs[j].name),
               !may_be ? ""
               : alike ? "it may be the same memory, or none of it"
                       : "only an output of the input's type may be the same memory");
    }
    for (std::size_t j = 0; j < k; ++j)
      if (overlap(c.out[k].data, bytes, c.out[j].data, contract.room(c, j) * size_of(c.out[j].type)))
        refuse(contract.name, std::string(output.name) + " overlaps " + std::string(contract.outputs[j].name));
  }
}

// Returns the contract's operation of that name; empty if the primitive has only one. Throws Error(unsupported) if the
// contract has no such operation.
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

Type type_of_scalar(const Parameter& parameter, Type element, Type result) {
  switch (parameter.kind) {
    case Parameter::Kind::element:
      return element;
    case Parameter::Kind::result:
      return result;
    case Parameter::Kind::integer:
      return Type::u64;
    case Parameter::Kind::real:
      return Type::f64;
    default:
      return Type::u8;  // flags and enumerators
  }
}

// Returns the shortest decimal that reads back as the same number; NaN without a sign.
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
    if (!c.scalars[k]) continue;
    const Type given = c.scalars[k].type();
    const Type needed = type_of_scalar(parameter, c.type(), contract.type_of_output(c, 0));
    const std::string is = std::string(parameter.name) + " is " + std::string(to_string(given));
    if (given != needed && parameter.kind == Parameter::Kind::element)
      refuse(contract.name, is + ", the elements are " + std::string(to_string(needed)));
    if (given != needed && parameter.kind == Parameter::Kind::result)
      refuse(contract.name,
             is + ", " + std::string(contract.outputs[0].name) + " is " + std::string(to_string(needed)));
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

void require_success(const Rung& rung, const Call& call, Status status) {
  if (!status) throw Error(status.code, describe(rung, call) + ": " + (status.message ? status.message : "failed"));
}

void run_or_throw(const Rung& rung, RunFn run, const Call& call) {
  require_success(rung, call, run(call));
}

// Device copies of a call's host arrays, in a frame of their own. One-element outputs are in the device's mailbox
// instead.
class Staging {
 public:
  // `uses_mailbox`: false for a rung that may write to an output of one element from all of its threads.
  Staging(const Contract& contract, const Request& request, detail::DeviceState& state, Workspace& workspace,
          bool uses_mailbox)
      : contract_(contract), request_(request), state_(state), scratch_(workspace), uses_mailbox_(uses_mailbox) {}

  // Takes memory for the copies and points the call at them. Returns false if out of memory.
  bool take(Call& call) {
    Call copies = call;
    for (std::size_t k = 0; k < contract_.inputs.size(); ++k)
      if (request_.in[k].place == Place::host) copies.in[k].data = take(call.in[k].bytes());
    for (std::size_t k = 0; k < contract_.outputs.size(); ++k) {
      if (!is_copied(k)) continue;
      if (is_in_mailbox(call, k)) {
        copies.out[k].data = state_.mailbox() + k * sizeof(std::uint64_t);
        continue;
      }
      const std::optional<std::size_t> j = in_place_of_input(call, k);
      copies.out[k].data = j ? copies.in[*j].data : take(contract_.room(call, k) * size_of(call.out[k].type));
    }
    if (scratch_) call = copies;
    return static_cast<bool>(scratch_);
  }
  std::size_t bytes() const { return bytes_; }

  // Copies the host inputs to their device copies.
  void copy_in(const Call& call) const {
    for (std::size_t k = 0; k < contract_.inputs.size(); ++k)
      if (request_.in[k].place == Place::host && request_.in[k].count)
        state_.platform.copy_in(call.in[k].data, request_.in[k].data, call.in[k].bytes(), state_.stream);
  }
  // Copies the written elements back, and waits.
  void copy_out(const Call& call) const {
    std::uint64_t counted = call.n();
    if (contract_.count_output != Contract::no_count && has_counted_outputs()) {
      const auto k = static_cast<std::size_t>(contract_.count_output);
      if (!is_in_mailbox(call, k))
        state_.platform.copy_out(&counted, call.out[k].data, sizeof counted, state_.stream);
      state_.platform.synchronize(state_.stream);
      if (is_in_mailbox(call, k)) std::memcpy(&counted, call.out[k].data, sizeof counted);
    }
    for (std::size_t k = 0; k < contract_.outputs.size(); ++k)
      if (is_copied(k) && !is_in_mailbox(call, k))
        if (const std::size_t elements = contract_.written(call, k, counted))
          state_.platform.copy_out(request_.out[k].data, call.out[k].data, elements * size_of(call.out[k].type),
                                   state_.stream);
    state_.platform.synchronize(state_.stream);
    for (std::size_t k = 0; k < contract_.outputs.size(); ++k)
      if (is_in_mailbox(call, k) && contract_.written(call, k, counted))
        std::memcpy(request_.out[k].data, call.out[k].data, size_of(call.out[k].type));
  }

 private:
  std::byte* take(std::size_t bytes) {
    bytes_ += bytes;
    return scratch_.take<std::byte>(bytes);
  }
  bool is_copied(std::size_t k) const { return request_.out[k].place == Place::host && request_.out[k].data; }
  bool is_in_mailbox(const Call& call, std::size_t k) const {
    return uses_mailbox_ && is_copied(k) && contract_.room(call, k) == 1;
  }
  // True if an output other than the count is copied. Its length may be known only from the count.
  bool has_counted_outputs() const {
    for (std::size_t k = 0; k < contract_.outputs.size(); ++k)
      if (static_cast<int>(k) != contract_.count_output && is_copied(k)) return true;
    return false;
  }
  // Returns the index of an input that output k may alias, of the same type and at least its length: the output shares
  // that input's copy, which halves the memory. Returns nullopt if there is none.
  std::optional<std::size_t> in_place_of_input(const Call& call, std::size_t k) const {
    for (std::size_t j = contract_.inputs.size(); j-- > 0;)
      if (contract_.outputs[k].may_be >> j & 1 && request_.in[j].place == Place::host &&
          call.in[j].type == call.out[k].type && contract_.room(call, k) <= call.in[j].count)
        return j;
    return std::nullopt;
  }
  const Contract& contract_;
  const Request& request_;
  detail::DeviceState& state_;
  Scratch scratch_;
  const bool uses_mailbox_;
  std::size_t bytes_ = 0;
};
static_assert(std::tuple_size_v<decltype(Request::out)> * sizeof(std::uint64_t) <= detail::DeviceState::mailbox_bytes);

// A validated request, and the rung that runs it.
struct Resolved {
  Call call{};
  const Rung* rung = nullptr;
  RunFn run = nullptr;
  bool on_host = false;  // some of its arrays are in memory that this device cannot access

  // True if the call runs on device copies of its host arrays.
  bool copies() const { return on_host && !rung->from_host(); }
};

// Validates a request and finds its rung. Throws if the request cannot run.
Resolved resolve(Device& device, const Request& request, const Options& options) {
  detail::DeviceState& state = *device.state();
  if (!request.contract) refuse("invoke", "there is no contract", "find_contract() gives one by name");
  const Contract& contract = *request.contract;
  Resolved resolved{.rung = options.rung.empty() ? nullptr : &detail::named_rung(state, contract, options.rung)};
  auto& [call, rung, run, on_host] = resolved;
  if (options.block > 1024)
    refuse(contract.name, "a block of " + std::to_string(options.block) + " threads",
           "a block has at most 1024 threads; 0 leaves the choice to the rung");

  call = {.operation = known_operation(contract, request.operation),
          .scalars = request.scalars,
          .tuning = {.block = options.block, .grid = options.grid, .threads = options.threads},
          .workspace = &state.workspace,
          .stream = state.stream};
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
  // A named rung is checked before the arrays, so that an unsupported type is reported before a wrong size.
  if (rung) run = resolve_run(state, *rung, call);
  contract.complete(call);
  require_scalars(contract, call);
  contract.require_arrays(call);
  if (!rung) {
    rung = &detail::chosen_rung(state, contract, call);
    run = resolve_run(state, *rung, call);
  }
  require_apart(contract, call);
  require_elements(contract, request, call, state.backend);
  on_host &= state.backend != Backend::cpu;
  return resolved;
}

// Returns the scratch that a call takes, by running it on a dry stream with a measuring workspace.
WorkspaceBytes measure(detail::DeviceState& state, const Request& request, const Options& options,
                       const Resolved& resolved) {
  Workspace measuring = Workspace::measuring();
  {
    Call call = resolved.call;
    call.workspace = &measuring;
    Staging staging(*request.contract, request, state, measuring, options.rung.empty());
    if (resolved.copies()) staging.take(call);
    require_success(*resolved.rung, call, run_dry(*resolved.rung, resolved.run, call));
  }
  return measuring.bytes();
}

// Runs a call, on copies of its host arrays in this workspace unless the rung takes host arrays. If the device has no
// memory for the copies, and the caller named no rung, chooses a rung that takes host arrays.
void run_with_copies(detail::DeviceState& state, const Request& request, const Options& options, Resolved& resolved,
                     Workspace& workspace) {
  auto& [call, rung, run, on_host] = resolved;
  std::optional<Staging> staging;
  if (resolved.copies()) {
    staging.emplace(*request.contract, request, state, workspace, options.rung.empty());
    if (!staging->take(call)) {
      const std::size_t bytes = staging->bytes();
      staging.reset();
      call.arrays = MemoryKind::pageable;
      if (options.rung.empty()) rung = &detail::chosen_rung(state, *request.contract, call);
      if (!rung->from_host())
        throw Error(Code::out_of_memory,
                    describe(*rung, call) + ": no device memory for copies of " + std::to_string(bytes) + " bytes",
                    "work on the arrays in parts");
      run = resolve_run(state, *rung, call);
    }
  }
  if (staging) staging->copy_in(call);
  run_or_throw(*rung, run, call);
  if (staging)
    staging->copy_out(call);
  else if (on_host)
    state.platform.synchronize(state.stream);
}

// Runs a call entirely in the caller's scratch.
void run_in_scratch(Device& device, const Request& request, const Options& options, Resolved& resolved) {
  detail::DeviceState& state = *device.state();
  const Contract& contract = *request.contract;
  const AnyView& scratch = options.scratch;
  const std::size_t bytes = scratch.count * size_of(scratch.type);
  if (state.backend != Backend::cpu) {
    if (scratch.place == Place::host) refuse(contract.name, "scratch is in host memory, not on " + device.name());
    detail::require_on(device, scratch.data, scratch.owner, "scratch");
  }
  if (reinterpret_cast<std::uintptr_t>(scratch.data) % Workspace::alignment)
    refuse(contract.name, "scratch is not aligned to " + std::to_string(Workspace::alignment) + " bytes");
  const auto require_apart_from = [&](std::string_view name, const Array& array, std::size_t array_bytes) {
    if (overlap(scratch.data, bytes, array.data, array_bytes))
      refuse(contract.name, "scratch overlaps " + std::string(name));
  };
  Call& call = resolved.call;
  for (std::size_t k = 0; k < contract.inputs.size(); ++k)
    require_apart_from(contract.inputs[k].name, call.in[k], call.in[k].bytes());
  for (std::size_t k = 0; k < contract.outputs.size(); ++k)
    if (call.out[k].data)
      require_apart_from(contract.outputs[k].name, call.out[k], contract.room(call, k) * size_of(call.out[k].type));
  const WorkspaceBytes needed = measure(state, request, options, resolved);
  if (bytes < needed.total())
    throw Error(Code::out_of_memory,
                describe(*resolved.rung, call) + " needs " + std::to_string(needed.total()) +
                    " bytes of scratch, not " + std::to_string(bytes),
                "scratch_bytes() returns this number");
  Workspace workspace(state.platform, scratch.data, needed);
  // Counters and kept words must start at zero; the caller's memory may contain anything.
  if (const std::size_t zero = needed.total() - needed.arena) state.platform.fill(scratch.data, 0, zero, state.stream);
  call.workspace = &workspace;
  run_with_copies(state, request, options, resolved, workspace);
}

}  // namespace

void invoke(Device& device, const Request& request, const Options& options) {
  detail::DeviceState& state = *device.state();
  const Activated activated(state.platform);
  Resolved resolved = resolve(device, request, options);
  if (options.scratch.data) return run_in_scratch(device, request, options, resolved);
  run_with_copies(state, request, options, resolved, state.staging);
}

std::size_t scratch_bytes(Device& device, const Request& request, const Options& options) {
  const Activated activated(device.platform());
  return measure(*device.state(), request, options, resolve(device, request, options)).total();
}

namespace detail {

void require_on(const Device& device, const void* data, const Platform* owner, std::string_view name) {
  if (owner ? owner == &device.platform() : device.platform().reaches(data)) return;
  throw Error(Code::invalid_argument, std::string(name) + " is in another device's memory than " + device.name(),
              owner ? "make the buffer with the device that uses it" : "pass host memory as a range or a host_view");
}

}  // namespace detail
}  // namespace upsweep

// upsweep::find_repeats, select_if and the others: from the public call to a rung.
#include "library/device_state.h"
#include "select/contract.h"
#include "upsweep/select.h"

namespace upsweep::detail {
namespace {

constexpr std::string_view hint_of_positions =
    "positions and lengths are u32 for less than 2^32 elements, u64 for more";

[[noreturn]] void refuse(Op op, const std::string& what, std::string_view hint = {}) {
  throw Error(Code::invalid_argument, std::string(to_string(op)) + ": " + what, std::string(hint));
}

void require_room(const SelectCall& c, const SelectArray& array, const char* role) {
  if (array.size < c.in.size)
    refuse(c.op, std::string(role) + " has room for " + std::to_string(array.size) + " elements, the input has " +
                     std::to_string(c.in.size));
}

// Everything that can be wrong with a call is found here, before anything is launched.
void require_possible(const SelectCall& c, const SelectArray* count, const Rung& rung) {
  const Type position = ladders::select::position_type(c.in.size);
  require_room(c, c.out, "the output");
  if (c.op == Op::find_repeats && c.out.type != position)
    refuse(c.op, "positions of the other type", hint_of_positions);
  if (c.op == Op::run_length_encode) {
    require_room(c, c.lengths, "the array of lengths");
    if (c.lengths.type != position) refuse(c.op, "lengths of the other type", hint_of_positions);
  }
  if (c.op == Op::select_flagged && c.flags.size != c.in.size)
    refuse(c.op, std::to_string(c.flags.size) + " flags for " + std::to_string(c.in.size) + " elements");
  if (count && count->size == 0) refuse(c.op, "the count has no element");
  if (rung.largest && c.in.size > rung.largest)
    throw Error(Code::unsupported, "select/" + std::string(rung.name) + " takes up to " + std::to_string(rung.largest) +
                                       " elements, not " + std::to_string(c.in.size));
}

// The arrays of a call in the device's memory, in the contract's order.
struct Arrays {
  const void *in, *flags;
  void *out, *count, *lengths;
};

void run(DeviceState& state, const SelectCall& c, const Rung& rung, RunFn run, const Arrays& arrays) {
  Call call = state.call;
  call.type = c.in.type;
  call.op = c.op;
  call.n = c.in.size;
  call.in = {arrays.in, arrays.flags};
  call.out = {arrays.out, arrays.count, arrays.lengths};
  if (c.op == Op::select_if || c.op == Op::partition_if) call.params.set("below", c.below);
  run_or_throw(state, rung, run, call);
}

std::uint64_t fetch(DeviceState& state, const void* count) {
  std::uint64_t value;
  state.platform.copy_out(&value, count, sizeof value, state.stream);
  state.platform.synchronize(state.stream);
  return value;
}

// Scratch of a device, handed out piece by piece.
class Staging {
 public:
  explicit Staging(DeviceState& state) : state_(state) {}
  std::size_t add(std::size_t bytes) { return std::exchange(bytes_, bytes_ + (bytes + 255) / 256 * 256); }
  void allocate(Op op) {
    base_ = static_cast<std::byte*>(state_.staging.scratch(bytes_));
    if (!base_)
      throw Error(Code::out_of_memory,
                  std::string(to_string(op)) + ": no device memory for copies of " + std::to_string(bytes_) + " bytes",
                  "select from it in parts");
  }
  std::byte* at(std::size_t offset) const { return base_ + offset; }

 private:
  DeviceState& state_;
  std::size_t bytes_ = 0;
  std::byte* base_ = nullptr;
};

// Host arrays on a device with memory of its own: there and back, of the outputs only what was written.
std::uint64_t through_copies(DeviceState& state, const SelectCall& c, const Rung& rung, RunFn run_rung) {
  const std::size_t n = c.in.size, in_bytes = n * size_of(c.in.type);
  Staging staging(state);
  const std::size_t in = staging.add(in_bytes), flags = staging.add(c.flags.size),
                    out = staging.add(n * size_of(c.out.type)), count = staging.add(sizeof(std::uint64_t)),
                    lengths = staging.add(c.lengths.data ? n * size_of(c.lengths.type) : 0);
  staging.allocate(c.op);
  if (n) state.platform.copy_in(staging.at(in), c.in.data, in_bytes, state.stream);
  if (c.flags.size) state.platform.copy_in(staging.at(flags), c.flags.data, c.flags.size, state.stream);
  run(state, c, rung, run_rung,
      {staging.at(in), staging.at(flags), staging.at(out), staging.at(count), staging.at(lengths)});
  const std::uint64_t selected = fetch(state, staging.at(count));
  const auto back = [&](const SelectArray& to, std::size_t from, std::uint64_t elements) {
    if (to.data && elements)
      state.platform.copy_out(to.data, staging.at(from), elements * size_of(to.type), state.stream);
  };
  back(c.out, out, c.op == Op::partition_if ? n : selected);
  back(c.lengths, lengths, selected);
  state.platform.synchronize(state.stream);
  return selected;
}

}  // namespace

std::uint64_t select(Device& device, const SelectCall& c, const SelectArray* count, const SelectOptions& options) {
  static const Primitive& primitive = *find_primitive("select");
  DeviceState& state = *device.state();
  const Rung& rung = resolve_rung(state, primitive, options.rung);
  const RunFn run_rung = resolve_run(rung, c.in.type, c.op);
  require_possible(c, count, rung);

  if (c.on_host && state.backend != Backend::cpu) {
    const std::uint64_t selected = through_copies(state, c, rung, run_rung);
    if (count) *static_cast<std::uint64_t*>(count->data) = selected;
    return selected;
  }
  void* const to = count ? count->data : state.staging.scratch(sizeof(std::uint64_t));
  if (!to) throw Error(Code::out_of_memory, std::string(to_string(c.op)) + ": no device memory for the count");
  run(state, c, rung, run_rung, {c.in.data, c.flags.data, c.out.data, to, c.lengths.data});
  return count ? 0 : fetch(state, to);
}

}  // namespace upsweep::detail

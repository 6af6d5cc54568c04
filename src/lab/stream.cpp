#include "lab/stream.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "lab/backends.h"
#include "lab/sums.h"

namespace upsweep {

namespace {

std::string name_of(const Rung& rung) { return std::string(rung.primitive) + "/" + std::string(rung.name); }

}  // namespace

RungStreamer::RungStreamer(Platform& platform, const Rung& rung, const Case& c)
    : Streamer(c),
      platform_(platform),
      name_(name_of(rung)),
      contract_(find_primitive(rung.primitive)->contract),
      run_(streaming_run(rung, c)),
      on_host_(platform.backend() == Backend::cpu || rung.from_host()),
      memory_(on_host_ ? cpu_platform() : platform),
      call_(call_of(*find_primitive(rung.primitive), c)) {
  release_scratch();
}

Call RungStreamer::whole_call(std::uint64_t n) const {
  Call call = call_;
  call.in = {Array{case_.type, n}};
  call.out = {};
  for (Array& output : call.out) output.type = Type::u64;
  describe(call, n);
  return call;
}

// The count is known unless it depends on the elements; without n, it is known only if it is the same for every n.
std::optional<std::uint64_t> RungStreamer::output_count(std::optional<std::uint64_t> n) const {
  const std::size_t one = contract_.room(whole_call(1), 0), two = contract_.room(whole_call(2), 0);
  if (one == two) return one;
  if (!n || contract_.count_output != Contract::no_count) return std::nullopt;
  return contract_.room(whole_call(*n), 0);
}

std::vector<Streamer::Beside> RungStreamer::other_outputs() const {
  const Call call = whole_call(1);
  std::vector<Beside> all;
  for (std::size_t k = 1; k < contract_.outputs.size(); ++k)
    if (const OutputRole& role = contract_.outputs[k]; !role.file.empty() && contract_.room(call, k) > 0)
      all.push_back({role.file, contract_.type_of_output(call, k), role.on_request});
  return all;
}

bool RungStreamer::elementwise() const { return join_of(0) == Join::in_sequence && !contract_.outputs[0].count; }

bool RungStreamer::any_order() const { return join_of(0) == Join::by_operator || join_of(0) == Join::by_addition; }

void RungStreamer::release_scratch() { call_.workspace = &workspace_.emplace(platform_); }

std::byte* RungStreamer::Room::grow(std::size_t bytes) {
  if (bytes > bytes_ || !begin_) {
    release();
    begin_ = static_cast<std::byte*>(memory_.allocate(aligned + bytes));
    bytes_ = bytes;
  }
  return data();
}

void RungStreamer::Room::release() {
  memory_.release(std::exchange(begin_, nullptr));
  bytes_ = 0;
}

const std::byte* RungStreamer::Room::fill(std::span<const std::byte> chunk, std::span<const std::byte> before) {
  std::byte* const to = grow(chunk.size());
  memory_.copy_in(to - before.size(), before.data(), before.size());
  memory_.copy_in(to, chunk.data(), chunk.size());
  return to - before.size();
}

void RungStreamer::run(std::array<Array, arrays_of_a_call> in, std::array<Array, arrays_of_a_call> out) {
  call_.in = in;
  call_.out = out;
  if (const Status s = run_(call_); !s)
    throw Error(s.code, name_ + " failed: " + (s.message ? s.message : "no message"),
                s.code == Code::out_of_memory ? less_memory : "");
}

std::span<const std::byte> RungStreamer::fetch(const std::byte* from, std::size_t bytes) {
  if (!on_host_) {
    host_.resize(bytes);
    platform_.copy_out(host_.data(), from, bytes);
    from = host_.data();
  }
  platform_.synchronize();
  return {from, bytes};
}

std::size_t chunk_for(std::size_t memory) {
  return std::clamp(std::bit_floor(memory / 32), std::size_t{1} << 20, most_chunk_bytes);
}

namespace {

// Lists, for a hint, the rungs of the same backend that take the case's type and operation and a whole chunk.
std::string other_rungs(const Rung& rung, const Case& c) {
  std::string names;
  for (const Backend backend : lab::present_backends())
    for (const Rung* other : lab::open_platform(backend).rungs_of(*find_contract(rung.primitive)))
      if (other->backend == rung.backend && !other->expected_wrong &&
          other->find_for(c.type, c.operation, most_chunk_bytes / size_of(c.type)))
        names += " " + std::string(other->name);
  return names.empty() ? "no rung of " + std::string(to_string(rung.backend)) + " does" : "these do:" + names;
}

}  // namespace

RunFn streaming_run(const Rung& rung, const Case& c) {
  const std::string name = name_of(rung);
  const RunFn run = rung.find(c.type, c.operation);
  if (!run)
    throw Error(Code::unsupported,
                name + " does not take " +
                    (c.operation ? "the " + std::string(c.operation.name()) + " of " : std::string()) +
                    std::string(to_string(c.type)),
                other_rungs(rung, c));
  if (rung.largest && rung.largest < most_chunk_bytes / size_of(c.type))
    throw Error(Code::unsupported, name + " takes up to " + std::to_string(rung.largest) + " elements",
                other_rungs(rung, c));
  if (initial_value(c) && !rung.takes_initial)
    throw Error(Code::unsupported, name + " takes no initial value", "leave the rung to the library");
  if (c.settings.find(out_type_shape.name) && !rung.takes_wider_output)
    throw Error(Code::unsupported, name + " takes no output wider than its input", "leave the rung to the library");
  if (!rung.takes_segments && c.settings.get("segment_length", std::uint64_t{0}))
    throw Error(Code::unsupported, name + " takes no segments", "leave the rung to the library");
  return run;
}

Scalar load_scalar(Type type, const std::byte* from) {
  return visit_any(type, [&]<class T>(TypeTag<T>) -> Scalar {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
  });
}

}  // namespace upsweep

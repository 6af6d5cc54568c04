#include "multi/group_call.h"

#include <algorithm>
#include <numeric>

#include "base/platform.h"

namespace upsweep::multi {
namespace {

// The head of a member's bytes in a gather: whether it has failed.
struct Header {
  Code code;
  int rank;             // of the member that failed
  std::uint64_t bytes;  // that follow: the member's, or the message of its error
};

void append(std::vector<std::byte>& to, const void* from, std::size_t bytes) {
  const auto* const begin = static_cast<const std::byte*>(from);
  to.insert(to.end(), begin, begin + bytes);
}

// Names a call in messages.
std::string describe(const Request& request) {
  std::string text(request.contract->name);
  if (request.operation) text += " (" + std::string(request.operation.name()) + ")";
  return text + " of " + std::string(to_string(request.in[0].type));
}

std::uint64_t fingerprint(const Request& request, const Options& options) {
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  const auto mix = [&](const void* data, std::size_t bytes) {
    for (std::size_t k = 0; k < bytes; ++k) hash = (hash ^ static_cast<const unsigned char*>(data)[k]) * 0x100000001b3u;
  };
  for (const Scalar& scalar : request.scalars) {
    const bool given = static_cast<bool>(scalar);
    mix(&given, sizeof given);
    if (given) mix(scalar.data(), size_of(scalar.type()));
  }
  mix(options.rung.data(), options.rung.size());
  return hash;
}

}  // namespace

// ---- memory ---------------------------------------------------------------------------------------------------------

Landing::~Landing() {
  if (!memory_) return;
  const Activated activated(device_->platform());
  device_->platform().memory(MemoryKind::pinned).release(memory_);
}

std::byte* Landing::grow(std::size_t bytes) {
  if (memory_ && bytes <= bytes_) return memory_;
  const Activated activated(device_->platform());
  MemorySpace& pinned = device_->platform().memory(MemoryKind::pinned);
  if (memory_) pinned.release(std::exchange(memory_, nullptr));
  memory_ = static_cast<std::byte*>(pinned.allocate(bytes));
  bytes_ = bytes;
  return memory_;
}

AnyView part_of(const AnyView& array, std::size_t first, std::size_t count) {
  AnyView part = array;
  if (array.data) part.data = static_cast<std::byte*>(array.data) + first * size_of(array.type);
  part.count = count;
  return part;
}

AnyView Member::take(Type type, std::size_t count) {
  const Activated activated(device.platform());
  auto* const memory = scratch_.take<std::byte>(count * size_of(type));
  if (!memory)
    throw Error(Code::out_of_memory,
                "no memory for " + std::to_string(count * size_of(type)) + " bytes on " + device.name());
  AnyView view;
  view.type = type, view.count = count, view.data = memory, view.place = Place::device;
  view.owner = &device.platform();
  return view;
}

AnyView Member::landing(Type type, std::size_t count) {
  AnyView view;
  view.type = type, view.count = count, view.data = landing_.grow(count * size_of(type)), view.place = Place::device;
  view.owner = &device.platform();
  return view;
}

void Member::read(const AnyView& array, std::size_t first, std::size_t count, void* to) {
  const AnyView part = part_of(array, first, count);
  const std::size_t bytes = count * size_of(array.type);
  if (bytes == 0) return;
  if (array.place == Place::host || landing_.contains(part.data)) {
    std::memcpy(to, part.data, bytes);
    return;
  }
  const Activated activated(device.platform());
  device.platform().copy_out(to, part.data, bytes, device.stream());
  device.platform().synchronize(device.stream());
}

void Member::read_every(const AnyView& array, std::size_t first, std::size_t step, std::size_t count, void* to) {
  if (count == 0) return;
  const std::size_t element = size_of(array.type);
  const auto* const from = static_cast<const std::byte*>(array.data) + first * element;
  if (array.place == Place::host) return cpu_platform().copy_out_every(to, from, element, step * element, count);
  const Activated activated(device.platform());
  std::byte* const landing = landing_.grow(count * element);
  device.platform().copy_out_every(landing, from, element, step * element, count, device.stream());
  device.platform().synchronize(device.stream());
  std::memcpy(to, landing, count * element);
}

void Member::write(const AnyView& array, std::size_t first, std::size_t count, const void* from) {
  const AnyView part = part_of(array, first, count);
  const std::size_t bytes = count * size_of(array.type);
  if (bytes == 0) return;
  if (array.place == Place::host) {
    std::memcpy(part.data, from, bytes);
    return;
  }
  const Activated activated(device.platform());
  device.platform().copy_in(part.data, from, bytes, device.stream());
  device.platform().synchronize(device.stream());
}

Scalar Member::read(const AnyView& array, std::size_t i) {
  return visit_any(array.type, [&]<class T>(TypeTag<T>) -> Scalar {
    T value;
    read(array, i, 1, &value);
    return value;
  });
}

// ---- messages -------------------------------------------------------------------------------------------------------

std::vector<std::vector<std::byte>> gather_bytes(GroupState& state, std::span<const std::vector<std::byte>> mine,
                                                 const std::optional<Failure>& failure) {
  if (!state.engine) {
    if (failure) throw Error(failure->error);
    return {mine.begin(), mine.end()};
  }
  std::vector<std::byte> message;
  if (failure) {
    const std::string_view what = failure->error.what();
    const Header header{failure->error.code(), failure->rank, what.size()};
    append(message, &header, sizeof header);
    append(message, what.data(), what.size());
  } else {
    for (const std::vector<std::byte>& bytes : mine) {
      const Header header{Code::ok, 0, bytes.size()};
      append(message, &header, sizeof header);
      append(message, bytes.data(), bytes.size());
    }
  }
  std::vector<std::vector<std::byte>> all;
  std::optional<MemberError> other;
  for (const std::vector<std::byte>& bytes : state.engine->all_gather(message))
    for (std::size_t at = 0; at < bytes.size();) {
      Header header;
      std::memcpy(&header, bytes.data() + at, sizeof header);
      const auto* const begin = bytes.data() + at + sizeof header;
      at += sizeof header + header.bytes;
      if (header.code == Code::ok)
        all.emplace_back(begin, begin + header.bytes);
      else if (!other)
        other = MemberError(header.code, "member " + std::to_string(header.rank) + ": " +
                                             std::string(reinterpret_cast<const char*>(begin), header.bytes));
    }
  if (failure) throw Error(failure->error);
  if (other) throw MemberError(*other);
  return all;
}

void tell_failure(Group& group, const Error& error) noexcept try {
  gather_bytes(group.state(), {}, Failure{group.first_rank(), error});
} catch (const Error&) {  // this one's, or another that has failed too
}

// ---- steps ----------------------------------------------------------------------------------------------------------

GroupCall::GroupCall(Group& group, std::span<const Request> requests, const Options& options)
    : state_(group.state()), options_(options), first_(requests.empty() ? Request{} : requests[0]) {
  if (requests.size() != state_.devices.size())
    throw Error(Code::invalid_argument, std::to_string(requests.size()) + " requests for " +
                                            std::to_string(state_.devices.size()) + " members of this process");
  for (std::size_t k = 0; k < requests.size(); ++k)
    members_.emplace_back(state_.first_rank, k, state_.devices[k], state_.landings[k], requests[k]);

  // Compares the calls of all members; the first difference is everyone's error.
  static constexpr std::uint8_t empty = 0xff;
  struct Common {
    std::uint64_t n, fingerprint;
    std::array<std::uint8_t, 2 * arrays_of_a_call> types;  // of the arrays, or `empty`
    char text[96];
  };
  const auto all = gather<Common>([&](Member& m) {
    if (!m.request.contract) throw Error(Code::invalid_argument, "invoke: there is no contract");
    if (options.scratch.data)
      throw Error(Code::unsupported, "a group's call takes no scratch", "its devices keep their own");
    Common common{.n = m.n(), .fingerprint = fingerprint(m.request, options), .types = {}, .text = {}};
    for (std::size_t k = 0; k < common.types.size(); ++k) {
      const AnyView& array = k < arrays_of_a_call ? m.request.in[k] : m.request.out[k - arrays_of_a_call];
      common.types[k] = array.count > 0 ? static_cast<std::uint8_t>(array.type) : empty;
    }
    const std::string text = describe(m.request);
    text.copy(common.text, sizeof common.text - 1);
    return common;
  });
  for (const Common& one : all) {
    n_.push_back(one.n);
    for (std::size_t k = 0; k < types_.size(); ++k)
      if (one.types[k] != empty) types_[k] = Type{one.types[k]};
  }
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    const std::string_view text = all[rank].text, expected = all[0].text;
    std::string difference;
    if (text != expected)
      difference = text;
    else if (all[rank].fingerprint != all[0].fingerprint)
      difference = "the same with other scalars or another rung";
    for (std::size_t k = 0; k < all[0].types.size(); ++k) {
      if (!difference.empty() || all[rank].types[k] == empty) continue;
      const auto first = std::ranges::find_if(all, [&](const Common& one) { return one.types[k] != empty; });
      if (all[rank].types[k] != first->types[k])
        difference = "the same with another array of " + std::string(to_string(Type{all[rank].types[k]})) +
                     " instead of " + std::string(to_string(Type{first->types[k]}));
    }
    if (!difference.empty())
      throw Error(Code::invalid_argument,
                  "the members' calls differ: member 0 calls " + std::string(expected) + ", member " +
                      std::to_string(rank) + " " + difference,
                  "all members make the same calls, in the same order");
  }
}

std::uint64_t GroupCall::before(int rank) const {
  return std::accumulate(n_.begin(), n_.begin() + rank, std::uint64_t{0});
}

void GroupCall::require_arrays(const Member& member, bool any_sizes) const {
  Call call{.operation = member.request.operation, .scalars = member.request.scalars};
  for (std::size_t k = 0; k < arrays_of_a_call; ++k) {
    const AnyView &in = member.request.in[k], &out = member.request.out[k];
    call.in[k] = {in.type, in.count, in.data};
    call.out[k] = {out.type, out.count, out.data};
    if (any_sizes) call.out[k] = {out_type(k).value_or(out.type), out_type(k) ? std::size_t{1} : 0, out.data};
  }
  contract().complete(call);
  if (any_sizes)
    for (std::size_t k = 0; k < contract().outputs.size(); ++k)
      if (out_type(k)) call.out[k].count = contract().room(call, k);
  contract().require_arrays(call);
}

void GroupCall::exchange(const std::function<void(Member&, Transfer&)>& f) {
  std::vector<Transfer> transfers;
  each([&](Member& m) {
    transfers.push_back({.rank = m.rank, .device = &m.device, .sends = {}, .receives = {}});
    f(m, transfers.back());
    m.device.synchronize();
  });
  finish();  // nobody waits for pieces of a member that has failed

  // 1. Pieces between members of this process: the receiver's device copies them.
  const int first = state_.first_rank, last = first + static_cast<int>(members_.size());
  const auto is_here = [&](const Piece& piece) { return piece.peer >= first && piece.peer < last; };
  each([&](Member& m) {
    Transfer& to = transfers[m.index];
    const Activated activated(m.device.platform());
    for (int rank = first; rank < last; ++rank) {
      const Transfer& from = transfers[static_cast<std::size_t>(rank - first)];
      auto sent = from.sends.begin();
      for (const Piece& piece : to.receives) {
        if (piece.peer != rank) continue;
        sent = std::find_if(sent, from.sends.end(), [&](const Piece& s) { return s.peer == m.rank; });
        if (piece.bytes)
          m.device.platform().copy_from(from.device->platform(), piece.data, sent->data, piece.bytes,
                                        m.device.stream());
        ++sent;
      }
    }
  });

  // 2. Pieces between processes: the engine moves them.
  if (state_.engine) {
    for (Transfer& transfer : transfers) {
      std::erase_if(transfer.sends, is_here);
      std::erase_if(transfer.receives, is_here);
    }
    state_.engine->exchange(transfers, state_.process_of);
  }
  each([&](Member& m) { m.device.synchronize(); });
}

void GroupCall::finish() {
  each([&](Member& m) { m.device.synchronize(); });
  if (state_.engine || failure_) gather_bytes(state_, std::vector<std::vector<std::byte>>(members_.size()), failure_);
}

bool is_divided(const Contract& contract, const Call& call, std::size_t output) {
  const Join join = contract.join_of(call, output);
  return join == Join::in_sequence || join == Join::shifted || join == Join::merged;
}

void for_each_part(Group& group, std::span<const std::vector<std::byte>> parts,
                   const std::function<void(std::span<const std::byte>)>& take) {
  GroupState& state = group.state();
  const auto has_first = [&] { return state.first_rank == 0; };
  std::optional<Failure> failure;  // of `take`; the others hear of it at the next gather
  const auto pass = [&](std::span<const std::byte> bytes) {
    try {
      if (!failure) take(bytes);
    } catch (const Error& error) {
      failure = {0, error};
    }
  };
  if (has_first())
    for (const std::vector<std::byte>& part : parts) pass(part);
  if (!state.engine) {
    if (failure) throw Error(failure->error);
    return;
  }
  std::vector<std::vector<std::byte>> sizes(parts.size(), std::vector<std::byte>(sizeof(std::uint64_t)));
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const std::uint64_t bytes = parts[k].size();
    std::memcpy(sizes[k].data(), &bytes, sizeof bytes);
  }
  // The other processes' parts come one at a time, in pieces that bound the memory of the first process.
  constexpr std::uint64_t piece = std::uint64_t{32} << 20;
  Device cpu = Device::cpu();
  std::vector<std::byte> received;
  const auto all = gather_bytes(state, sizes, failure);
  for (int rank = 0; rank < state.size; ++rank) {
    if (state.process_of[static_cast<std::size_t>(rank)] == state.process_of[0]) continue;
    const int mine = rank - state.first_rank;
    std::uint64_t bytes;
    std::memcpy(&bytes, all[static_cast<std::size_t>(rank)].data(), sizeof bytes);
    for (std::uint64_t at = 0; at < bytes; at += piece) {
      const std::uint64_t some = std::min(piece, bytes - at);
      Transfer transfer{.rank = has_first() ? 0 : rank, .device = &cpu, .sends = {}, .receives = {}};
      if (has_first()) {
        received.resize(some);
        transfer.receives = {{rank, received.data(), some}};
      } else if (mine >= 0 && mine < static_cast<int>(parts.size())) {
        auto* const data = const_cast<std::byte*>(parts[static_cast<std::size_t>(mine)].data());
        transfer.sends = {{0, data + at, some}};
      }
      state.engine->exchange(std::span(&transfer, 1), state.process_of);
      if (has_first()) pass(received);
      gather_bytes(state, std::vector<std::vector<std::byte>>(parts.size()), failure);
    }
  }
}

}  // namespace upsweep::multi

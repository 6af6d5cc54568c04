// Copies an array to parts of other sizes.
#include <algorithm>
#include <vector>

#include "multi/index.h"

namespace upsweep::multi {
namespace {

void copy(Group& group, std::span<const AnyView> in, std::span<const AnyView> out) {
  GroupState& state = group.state();
  if (in.size() != state.devices.size() || out.size() != state.devices.size())
    throw Error(Code::invalid_argument, "redistribute: " + std::to_string(in.size()) + " and " +
                                            std::to_string(out.size()) + " parts for " +
                                            std::to_string(state.devices.size()) + " members of this process");
  // As a request, whose output may have any size.
  static constexpr Contract contract{.name = "redistribute", .promise = "out = in, in parts of other sizes"};
  std::vector<Request> requests(in.size(), {.contract = &contract});
  for (std::size_t m = 0; m < in.size(); ++m) requests[m].in[0] = in[m], requests[m].out[0] = out[m];
  GroupCall call(group, requests, {});
  const auto from = begins_of(call.gather<std::uint64_t>([](Member& m) { return m.n(); }));
  const auto to =
      begins_of(call.gather<std::uint64_t>([](Member& m) { return std::uint64_t{m.request.out[0].count}; }));
  if (from.back() != to.back())
    throw Error(Code::invalid_argument, "redistribute: the parts of the output have " + std::to_string(to.back()) +
                                            " elements together, those of the input " + std::to_string(from.back()));
  if (call.out_type(0) != call.in_type(0))
    throw Error(Code::invalid_argument, "redistribute: the output has another type than the input");

  // Pieces are in the device's memory.
  const auto is_staged = [](const Member& m, const AnyView& view) {
    return view.place == Place::host && m.device.backend() != Backend::cpu;
  };
  std::vector<AnyView> received(in.size());
  call.exchange([&](Member& m, Transfer& transfer) {
    const auto rank = static_cast<std::size_t>(m.rank);
    const auto list = [&](const AnyView& mine, const std::vector<std::uint64_t>& own,
                          const std::vector<std::uint64_t>& others, std::vector<Piece>& pieces) {
      for (std::size_t peer = 0; peer + 1 < others.size(); ++peer) {
        const std::uint64_t begin = std::max(own[rank], others[peer]), end = std::min(own[rank + 1], others[peer + 1]);
        if (begin >= end) continue;
        const AnyView part = part_of(mine, begin - own[rank], end - begin);
        pieces.push_back({static_cast<int>(peer), static_cast<std::byte*>(part.data), part.count * size_of(part.type)});
      }
    };
    AnyView source = m.request.in[0];
    if (is_staged(m, source)) {
      const AnyView host = source;
      source = m.take(host.type, host.count);
      m.write(source, 0, host.count, host.data);
    }
    AnyView& target = received[m.index];
    target = is_staged(m, m.request.out[0]) ? m.take(m.request.out[0].type, m.request.out[0].count) : m.request.out[0];
    list(source, from, to, transfer.sends);
    list(target, to, from, transfer.receives);
  });
  call.each([&](Member& m) {
    const AnyView& target = received[m.index];
    if (is_staged(m, m.request.out[0])) m.read(target, 0, target.count, m.request.out[0].data);
  });
  call.finish();
}

}  // namespace
}  // namespace upsweep::multi

void upsweep::redistribute(Group& group, std::span<const AnyView> in, std::span<const AnyView> out) {
  multi::copy(group, in, out);
}

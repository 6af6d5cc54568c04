// The C interface of groups.
#include "library/c.h"

#include "multi/engine.h"
#include "multi/host_pieces.h"
#include "upsweep/group.h"

namespace upsweep::multi {
namespace {

class CallersEngine final : public Engine {
 public:
  explicit CallersEngine(const upsweep_engine& engine) : engine_(engine) {}
  int processes() const override { return engine_.processes; }
  int process() const override { return engine_.process; }
  std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine) override {
    std::vector<std::vector<std::byte>> all(static_cast<std::size_t>(engine_.processes));
    const auto take = [](void* reply, int p, const void* data, std::size_t bytes) {
      const auto* const begin = static_cast<const std::byte*>(data);
      (*static_cast<decltype(all)*>(reply)).at(static_cast<std::size_t>(p)).assign(begin, begin + bytes);
    };
    require_all(engine_.all_gather(engine_.context, mine.data(), mine.size(), take, &all));
    return all;
  }
  void exchange(std::span<const Transfer> transfers, std::span<const int> process_of) override {
    // One member per process, so a rank is a process.
    static_cast<void>(process_of);
    HostPieces pieces(transfers);
    std::vector<upsweep_piece> sends, receives;
    for (const Transfer& transfer : pieces.transfers()) {
      for (const Piece& piece : transfer.sends) sends.push_back({piece.peer, piece.data, piece.bytes});
      for (const Piece& piece : transfer.receives) receives.push_back({piece.peer, piece.data, piece.bytes});
    }
    require_all(engine_.exchange(engine_.context, sends.data(), sends.size(), receives.data(), receives.size()));
    pieces.finish();
  }

 private:
  static void require_all(int error) {
    if (error) throw Error(Code::lost_member, "the engine of the group reports that a process does not take part");
  }
  const upsweep_engine engine_;
};

}  // namespace
}  // namespace upsweep::multi

using namespace upsweep;

struct upsweep_group {
  Group group;
};

upsweep_code upsweep_open_group(upsweep_device* device, const upsweep_engine* engine, upsweep_group** group) {
  return c::guarded([&] {
    std::vector<Device> devices;
    devices.emplace_back(c::require(device, "device")->device.platform());
    auto joined = std::make_shared<multi::CallersEngine>(*c::require(engine, "engine"));
    upsweep_group*& opened = *c::require(group, "group");
    opened = new upsweep_group{Group(std::move(devices), std::move(joined))};
  });
}
void upsweep_close_group(upsweep_group* group) { delete group; }
upsweep_code upsweep_run_in_group(upsweep_group* group, const upsweep_call* call) {
  return c::guarded([&] {
    const Request request = c::request_of(*c::require(call, "call"));
    invoke(c::require(group, "group")->group, {&request, 1}, {.rung = call->rung ? call->rung : ""});
  });
}

#include "upsweep/group.h"

#include <cstring>

#include "base/contract.h"
#include "multi/group_call.h"

namespace upsweep {
namespace {

std::vector<Device> cpu_devices(int members) {
  std::vector<Device> devices;
  for (int m = 0; m < members; ++m) devices.push_back(Device::cpu());
  return devices;
}

std::vector<Device> gpu_devices() {
  std::vector<Device> devices;
  while (cuda_platform(static_cast<int>(devices.size())))
    devices.push_back(Device::cuda(static_cast<int>(devices.size())));
  if (devices.empty()) throw Error(Code::no_device, "no GPU: " + why_no_cuda(), "Group::cpus() makes a group of CPUs");
  return devices;
}

}  // namespace

Group::Group(std::vector<Device> devices) : Group(std::move(devices), nullptr) {}
Group Group::gpus() { return Group(gpu_devices()); }
Group Group::cpus(int members) { return Group(cpu_devices(members)); }

Group::Group(std::vector<Device> devices, std::shared_ptr<multi::Engine> engine)
    : state_(std::make_unique<multi::GroupState>()) {
  if (devices.empty()) throw Error(Code::invalid_argument, "a group without devices");
  for (const Device& device : devices)
    if (device.backend() != devices[0].backend())
      throw Error(Code::invalid_argument,
                  "a group of " + devices[0].name() + " and " + device.name() + ", which are of different backends",
                  "all members are CPUs, or all are GPUs");
  state_->devices = std::move(devices);
  for (const Device& device : state_->devices) state_->landings.emplace_back(device);
  state_->engine = std::move(engine);
  const int mine = static_cast<int>(state_->devices.size());
  if (!state_->engine) {
    state_->size = mine;
    return;
  }
  // Ranks follow the order of the processes.
  struct Joining {
    int members;
    Backend backend;
  };
  const Joining joining{mine, state_->devices[0].backend()};
  int process = 0;
  for (const std::vector<std::byte>& bytes : state_->engine->all_gather(std::as_bytes(std::span(&joining, 1)))) {
    Joining other;
    std::memcpy(&other, bytes.data(), sizeof other);
    if (other.backend != joining.backend)
      throw Error(Code::invalid_argument, "process " + std::to_string(process) + " has members on " +
                                              std::string(to_string(other.backend)) + ", this one on " +
                                              std::string(to_string(joining.backend)));
    if (process < state_->engine->process()) state_->first_rank += other.members;
    state_->size += other.members;
    state_->process_of.resize(static_cast<std::size_t>(state_->size), process);
    ++process;
  }
}

Group::Group(Group&&) noexcept = default;
Group& Group::operator=(Group&&) noexcept = default;
Group::~Group() = default;

int Group::size() const noexcept { return state_->size; }
int Group::first_rank() const noexcept { return state_->first_rank; }
std::span<Device> Group::devices() noexcept { return state_->devices; }

namespace detail {

GroupRequest::GroupRequest(Group& group, multi::Algorithm run, const Contract& contract, Operation operation,
                           const Scalars& scalars)
    : group_(group),
      run_(run),
      requests_(group.devices().size(), {.contract = &contract, .operation = operation, .scalars = scalars}) {}

std::size_t GroupRequest::parts_of(std::size_t parts) const {
  if (parts != requests_.size())
    refuse(requests_[0].contract->name, "an array of " + std::to_string(parts) + " parts for " +
                                            std::to_string(requests_.size()) + " members of this process");
  return parts;
}

void GroupRequest::run(const Options& options) { multi::run(group_, run_, requests_, options); }

}  // namespace detail

namespace multi {

void run(Group& group, Algorithm algorithm, std::span<const Request> requests, const Options& options) {
  if (group.size() > 1) {
    GroupCall call(group, requests, options);
    return algorithm(call);
  }
  if (requests.size() != 1)
    throw Error(Code::invalid_argument, std::to_string(requests.size()) + " requests for one member");
  Device& device = group.devices()[0];
  invoke(device, requests[0], options);
  device.synchronize();
}

}  // namespace multi
}  // namespace upsweep

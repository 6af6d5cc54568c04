// NCCL as the engine of a group of GPUs.
#include "upsweep/nccl.h"

#include <dlfcn.h>

#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <thread>

#include "base/platform.h"
#include "multi/engine.h"
#include "multi/messages.h"

namespace upsweep {
namespace multi {
namespace {

// The part of NCCL's interface that is used, as in nccl.h of version 2.
struct UniqueId {
  char bytes[128];
};
struct Nccl {
  int (*GetUniqueId)(UniqueId*);
  int (*CommInitRank)(ncclComm**, int size, UniqueId, int rank);
  int (*CommDestroy)(ncclComm*);
  int (*CommAbort)(ncclComm*);
  int (*CommCount)(const ncclComm*, int*);
  int (*CommUserRank)(const ncclComm*, int*);
  int (*CommGetAsyncError)(ncclComm*, int*);
  int (*GroupStart)();
  int (*GroupEnd)();
  int (*Send)(const void*, std::size_t count, int type, int peer, ncclComm*, void* stream);
  int (*Recv)(void*, std::size_t count, int type, int peer, ncclComm*, void* stream);
  int (*AllGather)(const void*, void*, std::size_t count, int type, ncclComm*, void* stream);
  const char* (*GetErrorString)(int);
};
constexpr int type_of_bytes = 1;  // ncclUint8
constexpr int in_progress = 7;    // ncclInProgress

const Nccl* find_nccl() {
  static const std::optional<Nccl> nccl = []() -> std::optional<Nccl> {
    void* const library = dlopen("libnccl.so.2", RTLD_NOW);
    if (!library) return std::nullopt;
    Nccl all{};
    bool complete = true;
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      complete &= function != nullptr;
    };
    find(all.GetUniqueId, "ncclGetUniqueId");
    find(all.CommInitRank, "ncclCommInitRank");
    find(all.CommDestroy, "ncclCommDestroy");
    find(all.CommAbort, "ncclCommAbort");
    find(all.CommCount, "ncclCommCount");
    find(all.CommUserRank, "ncclCommUserRank");
    find(all.CommGetAsyncError, "ncclCommGetAsyncError");
    find(all.GroupStart, "ncclGroupStart");
    find(all.GroupEnd, "ncclGroupEnd");
    find(all.Send, "ncclSend");
    find(all.Recv, "ncclRecv");
    find(all.AllGather, "ncclAllGather");
    find(all.GetErrorString, "ncclGetErrorString");
    if (!complete) return std::nullopt;
    return all;
  }();
  return nccl ? &*nccl : nullptr;
}

const Nccl& nccl() {
  if (const Nccl* found = find_nccl()) return *found;
  throw Error(Code::unsupported, "there is no NCCL library, libnccl.so.2",
              "install NCCL 2, or the package nvidia-nccl-cu13 of the Python index, and set LD_LIBRARY_PATH");
}

void check(int error, const char* what) {
  if (error == 0 || error == in_progress) return;
  throw Error(Code::device_error, std::string(what) + ": " + nccl().GetErrorString(error));
}

// Waits for a rank's stream. If NCCL reports that another rank has failed, which would leave the stream waiting, aborts
// the communicator, and throws Error(lost_member).
void wait(Device& device, ncclComm*& communicator) {
  Platform& platform = device.platform();
  const Activated activated(platform);
  for (int polls = 0; !platform.is_idle(device.stream()); ++polls) {
    int error = 0;
    check(nccl().CommGetAsyncError(communicator, &error), "ncclCommGetAsyncError");
    if (error != 0 && error != in_progress) {
      nccl().CommAbort(std::exchange(communicator, nullptr));
      throw Error(Code::lost_member, std::string("NCCL: ") + nccl().GetErrorString(error));
    }
    if (polls > 1000) std::this_thread::sleep_for(std::chrono::microseconds(50));  // a collective takes 20 us or more
  }
  device.synchronize();
}

// Moves pieces between ranks. communicators[k] is that of rank first_rank + k; null once it is aborted.
void exchange_pieces(std::span<ncclComm*> communicators, int first_rank, std::span<const Transfer> transfers) {
  const auto communicator_of = [&](const Transfer& transfer) -> ncclComm*& {
    ncclComm*& communicator = communicators[static_cast<std::size_t>(transfer.rank - first_rank)];
    if (!communicator) throw Error(Code::lost_member, "NCCL: the communicator was aborted");
    return communicator;
  };
  check(nccl().GroupStart(), "ncclGroupStart");
  for (const Transfer& transfer : transfers) {
    ncclComm* const communicator = communicator_of(transfer);
    void* const stream = transfer.device->native_stream();
    for (const Piece& piece : transfer.sends)
      check(nccl().Send(piece.data, piece.bytes, type_of_bytes, piece.peer, communicator, stream), "ncclSend");
    for (const Piece& piece : transfer.receives)
      check(nccl().Recv(piece.data, piece.bytes, type_of_bytes, piece.peer, communicator, stream), "ncclRecv");
  }
  check(nccl().GroupEnd(), "ncclGroupEnd");
  for (const Transfer& transfer : transfers) wait(*transfer.device, communicator_of(transfer));
}

// NCCL beside another engine, which carries the messages.
class NcclEngine final : public Engine {
 public:
  NcclEngine(std::shared_ptr<Engine> messages, std::span<Device> devices) : messages_(std::move(messages)) {
    struct Joining {
      int members;
      UniqueId id;
    };
    Joining joining{static_cast<int>(devices.size()), {}};
    if (messages_->process() == 0) check(nccl().GetUniqueId(&joining.id), "ncclGetUniqueId");
    int size = 0, process = 0;
    for (const std::vector<std::byte>& bytes : messages_->all_gather(std::as_bytes(std::span(&joining, 1)))) {
      Joining other;
      std::memcpy(&other, bytes.data(), sizeof other);
      if (process == 0) joining.id = other.id;
      if (process++ < messages_->process()) first_rank_ += other.members;
      size += other.members;
    }
    check(nccl().GroupStart(), "ncclGroupStart");
    communicators_.resize(devices.size());
    for (std::size_t k = 0; k < devices.size(); ++k) {
      const Activated activated(devices[k].platform());
      check(nccl().CommInitRank(&communicators_[k], size, joining.id, first_rank_ + static_cast<int>(k)),
            "ncclCommInitRank");
    }
    check(nccl().GroupEnd(), "ncclGroupEnd");
  }
  NcclEngine(const NcclEngine&) = delete;
  NcclEngine& operator=(const NcclEngine&) = delete;
  ~NcclEngine() override {
    for (ncclComm* communicator : communicators_)
      if (communicator) nccl().CommDestroy(communicator);
  }
  int processes() const override { return messages_->processes(); }
  int process() const override { return messages_->process(); }
  std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine) override {
    return messages_->all_gather(mine);
  }
  void exchange(std::span<const Transfer> transfers, std::span<const int> process_of) override {
    const bool is_on_gpu = transfers.empty() || transfers[0].device->backend() == Backend::cuda;
    if (!is_on_gpu) return messages_->exchange(transfers, process_of);
    exchange_pieces(communicators_, first_rank_, transfers);
  }

 private:
  const std::shared_ptr<Engine> messages_;
  int first_rank_ = 0;
  std::vector<ncclComm*> communicators_;  // of this process's members
};

// The caller's communicator, of one member per process, carries messages too.
class CommunicatorEngine final : public Engine {
 public:
  CommunicatorEngine(ncclComm* communicator, const Device& device)
      : device_(device.platform()), communicator_(communicator) {
    check(nccl().CommCount(communicator, &processes_), "ncclCommCount");
    check(nccl().CommUserRank(communicator, &process_), "ncclCommUserRank");
    messages_.emplace(processes_, [this](const void* mine, void* all, std::size_t bytes) {
      Platform& platform = device_.platform();
      const Activated activated(platform);
      const std::size_t every = bytes * static_cast<std::size_t>(processes_);
      if (bytes + every > room_) {
        if (memory_) platform.release(std::exchange(memory_, nullptr));
        memory_ = static_cast<std::byte*>(platform.allocate(bytes + every));
        room_ = bytes + every;
      }
      platform.copy_in(memory_, mine, bytes, device_.stream());
      if (!communicator_) throw Error(Code::lost_member, "NCCL: the communicator was aborted");
      check(nccl().AllGather(memory_, memory_ + bytes, bytes, type_of_bytes, communicator_, device_.native_stream()),
            "ncclAllGather");
      wait(device_, communicator_);
      platform.copy_out(all, memory_ + bytes, every, device_.stream());
      device_.synchronize();
    });
  }
  CommunicatorEngine(const CommunicatorEngine&) = delete;
  CommunicatorEngine& operator=(const CommunicatorEngine&) = delete;
  ~CommunicatorEngine() override {
    messages_->leave();
    const Activated activated(device_.platform());
    if (memory_) device_.platform().release(memory_);
  }
  int processes() const override { return processes_; }
  int process() const override { return process_; }
  std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine) override {
    return messages_->gather(mine);
  }
  void exchange(std::span<const Transfer> transfers, std::span<const int>) override {
    exchange_pieces(std::span(&communicator_, 1), process_, transfers);
  }

 private:
  Device device_;  // with a stream of its own, for messages
  ncclComm* communicator_;
  int processes_ = 0, process_ = 0;
  std::byte* memory_ = nullptr;  // for messages
  std::size_t room_ = 0;
  std::optional<Messages> messages_;
};

}  // namespace

bool has_nccl() { return find_nccl() != nullptr; }

std::shared_ptr<Engine> nccl_engine(std::shared_ptr<Engine> messages, std::span<Device> devices) {
  return std::make_shared<NcclEngine>(std::move(messages), devices);
}

}  // namespace multi

Group nccl_group(ncclComm* communicator, Device device) {
  if (device.backend() != Backend::cuda) throw Error(Code::invalid_argument, "NCCL joins GPUs, not " + device.name());
  auto engine = std::make_shared<multi::CommunicatorEngine>(communicator, device);
  std::vector<Device> devices;
  devices.push_back(std::move(device));
  return Group(std::move(devices), std::move(engine));
}

}  // namespace upsweep

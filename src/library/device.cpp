#include "upsweep/device.h"

#include "library/device_state.h"
#include "library/tuning.h"
#include "upsweep/buffer.h"

namespace upsweep {
namespace {

Platform& require_cuda(int ordinal) {
  if (Platform* platform = cuda_platform(ordinal)) return *platform;
  throw Error(Code::no_device, "no CUDA device " + std::to_string(ordinal) + ": " + why_no_cuda(),
              "use Device::best() or Device::cpu() where a GPU may be missing");
}

}  // namespace

Device::Device(Platform& platform) {
  const Activated activated(platform);
  detail::tune(platform);
  state_ = std::make_shared<detail::DeviceState>(platform, platform.create_stream(), true);
}
Device::Device(Platform& platform, Stream stream) {
  const Activated activated(platform);
  detail::tune(platform);
  state_ = std::make_shared<detail::DeviceState>(platform, stream, false);
}

Device Device::best() {
  Platform* gpu = cuda_platform();
  return Device(gpu ? *gpu : cpu_platform());
}
Device Device::cpu() { return Device(cpu_platform()); }
Device Device::cuda(int ordinal) { return Device(require_cuda(ordinal)); }
Device Device::cuda_on(void* stream, int ordinal) { return Device(require_cuda(ordinal), Stream{stream}); }

Backend Device::backend() const noexcept { return state_->backend; }
std::string Device::name() const { return state_->platform.describe().device; }
void Device::synchronize() {
  const Activated activated(state_->platform);
  state_->platform.synchronize(state_->stream);
}
bool Device::is_capturing() const { return state_->platform.is_capturing(state_->stream); }
void* Device::native_stream() const noexcept { return state_->stream.handle; }
Platform& Device::platform() const noexcept { return state_->platform; }
Workspace& Device::workspace() const noexcept { return state_->workspace; }
Stream Device::stream() const noexcept { return state_->stream; }

namespace detail {

Memory::Memory(const Device& device, std::size_t bytes) : state_(device.state()) {
  const Activated activated(state_->platform);
  memory_ = state_->platform.allocate(bytes);
}

Memory::~Memory() {
  if (memory_) state_->platform.release(memory_);
}

void Memory::copy_in(const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  const Activated activated(state_->platform);
  state_->platform.copy_in(memory_, from, bytes, state_->stream);
  state_->platform.synchronize(state_->stream);
}

void Memory::copy_out(void* to, std::size_t bytes) const {
  if (bytes == 0) return;
  const Activated activated(state_->platform);
  state_->platform.copy_out(to, memory_, bytes, state_->stream);
  state_->platform.synchronize(state_->stream);
}

const Platform* Memory::owner() const noexcept { return state_ ? &state_->platform : nullptr; }

void throw_size_mismatch(std::size_t host, std::size_t buffer) {
  throw Error(Code::invalid_argument,
              "a copy of " + std::to_string(host) + " elements to or from a buffer of " + std::to_string(buffer));
}

}  // namespace detail
}  // namespace upsweep

// Owned device memory.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "upsweep/device.h"
#include "upsweep/view.h"

namespace upsweep {

namespace detail {

class Memory {
 public:
  Memory(const Device& device, std::size_t bytes);
  Memory(Memory&& other) noexcept : state_(std::move(other.state_)), memory_(std::exchange(other.memory_, nullptr)) {}
  Memory& operator=(Memory&& other) noexcept {
    std::swap(state_, other.state_);
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~Memory();
  void* data() const noexcept { return memory_; }
  void copy_in(const void* from, std::size_t bytes);
  void copy_out(void* to, std::size_t bytes) const;
  const Platform* owner() const noexcept;

 private:
  std::shared_ptr<DeviceState> state_;
  void* memory_ = nullptr;
};

[[noreturn]] void throw_size_mismatch(std::size_t host, std::size_t buffer);

}  // namespace detail

// Owns size() elements of device memory, aligned to 256 bytes and uninitialised unless constructed from values.
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>, "elements are copied as bytes");

 public:
  // Throws Error(out_of_memory).
  Buffer(const Device& device, std::size_t size)
      : size_(size), memory_(device, size > max_size() ? max_size() * sizeof(T) : size * sizeof(T)) {}
  Buffer(const Device& device, std::span<const T> values) : Buffer(device, values.size()) { copy_from(values); }

  std::size_t size() const noexcept { return size_; }
  T* data() noexcept { return static_cast<T*>(memory_.data()); }  // a device pointer
  const T* data() const noexcept { return static_cast<const T*>(memory_.data()); }

  // Copy between host memory and the buffer, in order with the device's other work. Both throw Error(invalid_argument)
  // unless the span has exactly size() elements. copy_from() returns once it has read the values, copy_to() once it has
  // written them.
  void copy_from(std::span<const T> values) {
    if (values.size() != size_) detail::throw_size_mismatch(values.size(), size_);
    memory_.copy_in(values.data(), values.size_bytes());
  }
  void copy_to(std::span<T> values) const {
    if (values.size() != size_) detail::throw_size_mismatch(values.size(), size_);
    memory_.copy_out(values.data(), values.size_bytes());
  }
  std::vector<T> to_vector() const {
    std::vector<T> values(size_);
    copy_to(values);
    return values;
  }

  View<T> view() noexcept { return {data(), size_, Place::device, memory_.owner()}; }
  View<const T> view() const noexcept { return {data(), size_, Place::device, memory_.owner()}; }

 private:
  static constexpr std::size_t max_size() { return static_cast<std::size_t>(-1) / sizeof(T); }
  std::size_t size_;
  detail::Memory memory_;
};

}  // namespace upsweep

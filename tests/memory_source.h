// A Source that reads bytes in memory, for tests and fuzzing.
#pragma once
#include <algorithm>
#include <cstring>
#include <string>

#include "files/file.h"

namespace upsweep {

class MemorySource final : public Source {
 public:
  explicit MemorySource(std::string bytes, bool size_known = true)
      : bytes_(std::move(bytes)), size_known_(size_known) {}
  std::size_t read(std::span<std::byte> to) override {
    const std::size_t count = std::min(to.size(), bytes_.size() - at_);
    if (count) std::memcpy(to.data(), bytes_.data() + at_, count);
    at_ += count;
    return count;
  }
  std::optional<std::uint64_t> size() const override {
    return size_known_ ? std::optional<std::uint64_t>(bytes_.size()) : std::nullopt;
  }
  const std::string& name() const override { return name_; }
  bool can_read_at() const override { return size_known_; }
  std::size_t read_at(std::uint64_t offset, std::span<std::byte> to) override {
    const std::size_t count = offset < bytes_.size() ? std::min(to.size(), bytes_.size() - offset) : 0;
    if (count) std::memcpy(to.data(), bytes_.data() + offset, count);
    return count;
  }

 private:
  std::string bytes_, name_ = "memory";
  std::size_t at_ = 0;
  bool size_known_;
};

}  // namespace upsweep

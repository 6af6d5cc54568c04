// Messages of any length between processes, by an engine that can gather equal ones.
#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace upsweep::multi {

class Messages {
 public:
  // Gathers `bytes` bytes of every process, `mine` among them, into `all`, by process.
  using GatherEqual = std::function<void(const void* mine, void* all, std::size_t bytes)>;
  Messages(int processes, GatherEqual gather) : processes_(processes), gather_equal_(std::move(gather)) {}

  // Returns every process's message. Throws Error(lost_member) if a process has left.
  std::vector<std::vector<std::byte>> gather(std::span<const std::byte> mine);
  // Takes part in one more gathering, which tells the others that this process has left. If all leave, that is all.
  void leave() noexcept;

 private:
  // Most messages fit, and take one gathering instead of two.
  struct First {
    std::size_t bytes;
    std::byte begin[504];
  };
  static constexpr std::size_t has_left = ~std::size_t{0};

  const int processes_;
  const GatherEqual gather_equal_;
  bool has_ended_ = false;  // a process has left
};

}  // namespace upsweep::multi

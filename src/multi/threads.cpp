// Threads that stand for the processes of a group.
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "base/platform.h"
#include "multi/engine.h"

namespace upsweep::multi {
namespace {

// The meeting place of the threads, for one exchange of messages at a time.
class Meeting {
 public:
  explicit Meeting(int threads) : messages_(static_cast<std::size_t>(threads)) {}

  // Waits until every thread has passed a message, and returns all. Throws Error(lost_member) if a thread has left.
  std::vector<std::vector<std::byte>> meet(int thread, std::span<const std::byte> message) {
    std::unique_lock lock(mutex_);
    // 1. The last meeting must have ended.
    wait(lock, [&] { return leaving_ == 0; });
    messages_[static_cast<std::size_t>(thread)].assign(message.begin(), message.end());
    // 2. The last to come opens the door.
    if (++present_ == static_cast<int>(messages_.size())) {
      leaving_ = present_;
      present_ = 0;
      changed_.notify_all();
    } else {
      wait(lock, [&] { return leaving_ > 0; });
    }
    std::vector<std::vector<std::byte>> all = messages_;
    if (--leaving_ == 0) changed_.notify_all();
    return all;
  }
  void leave(int thread) {
    const std::lock_guard lock(mutex_);
    if (left_ < 0) left_ = thread;
    changed_.notify_all();
  }

 private:
  template <class Condition>
  void wait(std::unique_lock<std::mutex>& lock, Condition condition) {
    changed_.wait(lock, [&] { return condition() || left_ >= 0; });
    if (!condition()) throw Error(Code::lost_member, "process " + std::to_string(left_) + " of the group has ended");
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::vector<std::byte>> messages_;
  int present_ = 0;  // threads that have passed a message
  int leaving_ = 0;  // threads that have yet to read the messages
  int left_ = -1;    // a thread that has left the group
};

class ThreadEngine final : public Engine {
 public:
  ThreadEngine(std::shared_ptr<Meeting> meeting, int threads, int thread)
      : meeting_(std::move(meeting)), threads_(threads), thread_(thread) {}
  ~ThreadEngine() override { meeting_->leave(thread_); }
  int processes() const override { return threads_; }
  int process() const override { return thread_; }
  std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine) override {
    return meeting_->meet(thread_, mine);
  }
  // Every thread tells where its pieces are; the receivers copy them.
  void exchange(std::span<const Transfer> transfers, std::span<const int>) override {
    struct Place {
      int from, to;
      const std::byte* data;
      Device* device;
    };
    std::vector<Place> mine;
    for (const Transfer& transfer : transfers)
      for (const Piece& piece : transfer.sends)
        mine.push_back({transfer.rank, piece.peer, piece.data, transfer.device});
    std::vector<Place> all;
    for (const std::vector<std::byte>& bytes : meeting_->meet(thread_, std::as_bytes(std::span(mine)))) {
      const auto* const begin = reinterpret_cast<const Place*>(bytes.data());
      all.insert(all.end(), begin, begin + bytes.size() / sizeof(Place));
    }
    for (const Transfer& transfer : transfers) {
      std::size_t next = 0;
      int peer = -1;
      for (const Piece& piece : transfer.receives) {
        if (piece.peer != peer) peer = piece.peer, next = 0;
        while (all[next].from != peer || all[next].to != transfer.rank) ++next;
        const Activated activated(transfer.device->platform());
        if (piece.bytes)
          transfer.device->platform().copy_from(all[next].device->platform(), piece.data, all[next].data, piece.bytes,
                                                transfer.device->stream());
        ++next;
      }
      transfer.device->synchronize();
    }
    meeting_->meet(thread_, {});  // nobody reuses memory that others still read
  }

 private:
  const std::shared_ptr<Meeting> meeting_;
  const int threads_, thread_;
};

}  // namespace

std::vector<std::shared_ptr<Engine>> engines_of_threads(int threads) {
  const auto meeting = std::make_shared<Meeting>(threads);
  std::vector<std::shared_ptr<Engine>> engines;
  for (int thread = 0; thread < threads; ++thread)
    engines.push_back(std::make_shared<ThreadEngine>(meeting, threads, thread));
  return engines;
}

}  // namespace upsweep::multi

// The engine that joins the processes of a group: MPI, or threads that stand for processes.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "upsweep/device.h"

namespace upsweep::multi {

// A contiguous piece of memory that one member sends to another.
struct Piece {
  int peer;  // the other member's rank
  std::byte* data;
  std::size_t bytes;
};

// The pieces that a member sends and receives in one exchange. Those from one member to another have the same number,
// order and sizes on both sides.
struct Transfer {
  int rank;
  Device* device;  // whose memory has the pieces; its queue has finished all work on them
  std::vector<Piece> sends, receives;
};

// All processes make the same calls in the same order. A call throws Error(lost_member) if another process has ended or
// does not take part.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual int processes() const = 0;
  virtual int process() const = 0;
  // Returns the bytes that each process passed, by process.
  virtual std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine) = 0;
  // Moves pieces between members of different processes, and returns once this process's are sent and received.
  // process_of[rank] is the process of a member.
  virtual void exchange(std::span<const Transfer> transfers, std::span<const int> process_of) = 0;
};

// Returns the engines of processes that threads of this one stand for: one for each thread. An engine that is destroyed
// before a call is a process that has ended.
std::vector<std::shared_ptr<Engine>> engines_of_threads(int threads);

}  // namespace upsweep::multi

// MPI as the engine of a group.
#include "upsweep/mpi.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>

#include "base/platform.h"
#include "multi/engine.h"

namespace upsweep {
namespace multi {
namespace {

void check(int error, const char* what) {
  if (error == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(error, text, &length);
  throw Error(Code::device_error, std::string(what) + ": " + std::string(text, static_cast<std::size_t>(length)));
}

class MpiEngine final : public Engine {
 public:
  explicit MpiEngine(MPI_Comm communicator) {
    check(MPI_Comm_dup(communicator, &communicator_), "MPI_Comm_dup");
    MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN);
    check(MPI_Comm_size(communicator_, &processes_), "MPI_Comm_size");
    check(MPI_Comm_rank(communicator_, &process_), "MPI_Comm_rank");
  }
  MpiEngine(const MpiEngine&) = delete;
  MpiEngine& operator=(const MpiEngine&) = delete;
  // Takes part in one more message, which tells the others. If all leave, that is all.
  ~MpiEngine() override {
    if (!has_ended_) {
      std::vector<Message> all(static_cast<std::size_t>(processes_));
      const Message leaving{.bytes = has_left, .begin = {}};
      MPI_Allgather(&leaving, sizeof leaving, MPI_BYTE, all.data(), sizeof leaving, MPI_BYTE, communicator_);
    }
    MPI_Comm_free(&communicator_);
  }

  int processes() const override { return processes_; }
  int process() const override { return process_; }

  std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine) override {
    if (has_ended_) throw Error(Code::lost_member, "another process has left the group");
    // 1. The first bytes of every message, and its size.
    Message message{.bytes = mine.size(), .begin = {}};
    std::ranges::copy(mine.first(std::min(mine.size(), sizeof message.begin)), message.begin);
    std::vector<Message> all(static_cast<std::size_t>(processes_));
    check(MPI_Allgather(&message, sizeof message, MPI_BYTE, all.data(), sizeof message, MPI_BYTE, communicator_),
          "MPI_Allgather");
    for (std::size_t p = 0; p < all.size(); ++p)
      if (all[p].bytes == has_left) {
        has_ended_ = true;
        throw Error(Code::lost_member, "process " + std::to_string(p) + " has left the group");
      }

    // 2. The rest of the longer ones.
    std::vector<int> counts, begins;
    int sum = 0;
    for (const Message& one : all) {
      const std::uint64_t more = one.bytes - std::min<std::uint64_t>(one.bytes, sizeof one.begin);
      if (more > most_message - static_cast<std::uint64_t>(sum))
        throw Error(Code::unsupported, "the members' messages have more than 2^30 bytes");
      counts.push_back(static_cast<int>(more));
      begins.push_back(sum);
      sum += counts.back();
    }
    std::vector<std::byte> rest(static_cast<std::size_t>(sum));
    if (sum > 0) {
      const std::span<const std::byte> own = mine.subspan(std::min(mine.size(), sizeof message.begin));
      check(MPI_Allgatherv(own.data(), static_cast<int>(own.size()), MPI_BYTE, rest.data(), counts.data(),
                           begins.data(), MPI_BYTE, communicator_),
            "MPI_Allgatherv");
    }
    std::vector<std::vector<std::byte>> messages;
    for (std::size_t p = 0; p < all.size(); ++p) {
      const std::size_t inline_bytes = std::min<std::size_t>(all[p].bytes, sizeof all[p].begin);
      messages.emplace_back(all[p].begin, all[p].begin + inline_bytes);
      const auto begin = rest.begin() + begins[p];
      messages.back().insert(messages.back().end(), begin, begin + counts[p]);
    }
    return messages;
  }

  void exchange(std::span<const Transfer> transfers, std::span<const int> process_of) override {
    std::vector<MPI_Request> requests;
    std::vector<std::vector<std::byte>> copies;  // of pieces that MPI cannot access
    struct Arrived {
      Device* device;
      std::byte* to;
      std::size_t copy;
    };
    std::vector<Arrived> arrived;
    const int members = static_cast<int>(process_of.size());
    // Posts a piece as messages of at most 2^30 bytes, because MPI counts with int.
    const auto post = [&](std::byte* data, std::size_t bytes, int from, int to, bool sends) {
      for (std::size_t at = 0; at < bytes; at += most_message) {
        const int some = static_cast<int>(std::min(bytes - at, most_message)), tag = from * members + to;
        const int process = process_of[static_cast<std::size_t>(sends ? to : from)];
        requests.emplace_back();
        check(sends ? MPI_Isend(data + at, some, MPI_BYTE, process, tag, communicator_, &requests.back())
                    : MPI_Irecv(data + at, some, MPI_BYTE, process, tag, communicator_, &requests.back()),
              sends ? "MPI_Isend" : "MPI_Irecv");
      }
    };
    for (const Transfer& transfer : transfers) {
      const bool copies_needed = transfer.device->backend() == Backend::cuda;
      for (const Piece& piece : transfer.receives) {
        std::byte* data = piece.data;
        if (copies_needed) {
          data = copies.emplace_back(piece.bytes).data();
          arrived.push_back({transfer.device, piece.data, copies.size() - 1});
        }
        post(data, piece.bytes, piece.peer, transfer.rank, false);
      }
    }
    for (const Transfer& transfer : transfers) {
      const bool copies_needed = transfer.device->backend() == Backend::cuda;
      const Activated activated(transfer.device->platform());
      for (const Piece& piece : transfer.sends) {
        std::byte* data = piece.data;
        if (copies_needed) {
          data = copies.emplace_back(piece.bytes).data();
          transfer.device->platform().copy_out(data, piece.data, piece.bytes, transfer.device->stream());
          transfer.device->synchronize();
        }
        post(data, piece.bytes, transfer.rank, piece.peer, true);
      }
    }
    check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    for (const Arrived& one : arrived) {
      const Activated activated(one.device->platform());
      one.device->platform().copy_in(one.to, copies[one.copy].data(), copies[one.copy].size(), one.device->stream());
      one.device->synchronize();
    }
  }

 private:
  static constexpr std::uint64_t has_left = ~std::uint64_t{0};
  static constexpr std::size_t most_message = std::size_t{1} << 30;
  // Most messages fit, and take one collective instead of two.
  struct Message {
    std::uint64_t bytes;
    std::byte begin[504];
  };

  MPI_Comm communicator_ = MPI_COMM_NULL;
  int processes_ = 0, process_ = 0;
  bool has_ended_ = false;  // another process has left
};

}  // namespace
}  // namespace multi

Group mpi_group(MPI_Comm communicator, std::vector<Device> devices) {
  return Group(std::move(devices), std::make_shared<multi::MpiEngine>(communicator));
}

}  // namespace upsweep

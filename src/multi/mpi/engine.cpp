#include "multi/mpi/engine.h"

#include <algorithm>
#include <optional>
#include <string>

#include "multi/host_pieces.h"
#include "multi/messages.h"
#include "upsweep/error.h"

namespace upsweep::multi {
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
    messages_.emplace(processes_, [this](const void* mine, void* all, std::size_t bytes) {
      if (bytes > most_message) throw Error(Code::unsupported, "a message of more than 2^30 bytes");
      const int count = static_cast<int>(bytes);
      check(MPI_Allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, communicator_), "MPI_Allgather");
    });
  }
  MpiEngine(const MpiEngine&) = delete;
  MpiEngine& operator=(const MpiEngine&) = delete;
  ~MpiEngine() override {
    messages_->leave();
    MPI_Comm_free(&communicator_);
  }

  int processes() const override { return processes_; }
  int process() const override { return process_; }
  std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine) override {
    return messages_->gather(mine);
  }

  void exchange(std::span<const Transfer> transfers, std::span<const int> process_of) override {
    HostPieces pieces(transfers);
    std::vector<MPI_Request> requests;
    const int members = static_cast<int>(process_of.size());
    // Posts a piece as messages of at most 2^30 bytes, because MPI counts with int.
    const auto post = [&](const Piece& piece, int from, int to, bool sends) {
      const int process = process_of[static_cast<std::size_t>(sends ? to : from)], tag = from * members + to;
      for (std::size_t at = 0; at < piece.bytes; at += most_message) {
        const int some = static_cast<int>(std::min(piece.bytes - at, most_message));
        requests.emplace_back();
        check(sends ? MPI_Isend(piece.data + at, some, MPI_BYTE, process, tag, communicator_, &requests.back())
                    : MPI_Irecv(piece.data + at, some, MPI_BYTE, process, tag, communicator_, &requests.back()),
              sends ? "MPI_Isend" : "MPI_Irecv");
      }
    };
    for (const Transfer& transfer : pieces.transfers())
      for (const Piece& piece : transfer.receives) post(piece, piece.peer, transfer.rank, false);
    for (const Transfer& transfer : pieces.transfers())
      for (const Piece& piece : transfer.sends) post(piece, transfer.rank, piece.peer, true);
    check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    pieces.finish();
  }

 private:
  static constexpr std::size_t most_message = std::size_t{1} << 30;

  MPI_Comm communicator_ = MPI_COMM_NULL;
  int processes_ = 0, process_ = 0;
  std::optional<Messages> messages_;
};

}  // namespace

std::unique_ptr<Engine> make_mpi_engine(MPI_Comm communicator) { return std::make_unique<MpiEngine>(communicator); }

}  // namespace upsweep::multi

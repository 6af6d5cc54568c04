// Runs a file's arrays on a group: every member gets an even share of the elements.
#pragma once
#include <memory>
#include <vector>

#include "lab/stream.h"
#include "upsweep/group.h"

namespace upsweep::app {

// Opens the devices of `--devices`: a number, or "all" of the backend's. Processes that MPI has started each have as
// many members. Sets is_first to whether this is the first of the processes, or the only one. Throws
// Error(invalid_argument), and Error(no_device) if there are fewer; in several processes MemberError, in all of them.
Group open_group(const std::string& devices, Backend backend, bool& is_first);

class GroupStreamer final : public Streamer {
 public:
  // `one` streams the same call on one device; it describes inputs and outputs. An empty `rung` is the library's
  // choice. Throws Error(unsupported) if a group does not have the call.
  GroupStreamer(Group& group, const Primitive& primitive, const Case& c, std::unique_ptr<Streamer> one,
                std::string rung);

  std::vector<Beside> other_inputs() const override { return one_->other_inputs(); }
  std::vector<Beside> whole_inputs() const override { return one_->whole_inputs(); }
  void take_whole(std::size_t k, std::vector<std::byte> bytes, Type type) override;
  void use(const Storage& storage) override;
  void take_types(std::span<const Type> others) override;
  Type output_type() const override { return one_->output_type(); }
  std::optional<std::uint64_t> output_count(std::optional<std::uint64_t> n) const override {
    return one_->output_count(n);
  }
  bool elementwise() const override { return one_->elementwise(); }
  std::uint64_t bytes_after_input(std::uint64_t n) const override { return n * size_of(case_.type); }
  std::vector<Beside> other_outputs() const override { return one_->other_outputs(); }
  void feed(Chunks chunks, const Sink& sink) override;
  // Runs the call. The process of member 0 passes the results of all members to the sink.
  void finish(const Sink& sink) override;

 private:
  using Bytes = std::vector<std::byte>;
  Call whole_call() const;                            // the call of one device, without data
  std::size_t input_of(std::string_view name) const;  // index in Call::in
  void divide(Chunks chunks);
  void put(std::size_t output, const std::vector<Bytes>& parts, const Sink& sink);

  Group& group_;
  const Primitive& primitive_;
  std::unique_ptr<Streamer> one_;
  const std::string rung_;
  bool is_total_known_ = false;
  std::vector<Bytes> held_;             // the inputs' elements until their number is known
  std::uint64_t total_ = 0, done_ = 0;  // elements of the main input
  std::vector<std::size_t> others_;     // indices in Call::in
  std::vector<Type> other_types_;
  std::array<std::pair<Type, Bytes>, arrays_of_a_call> whole_;  // arrays of which each member has a copy
  std::vector<std::array<Bytes, arrays_of_a_call>> in_;         // of this process's members
};

}  // namespace upsweep::app

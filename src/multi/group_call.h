// One call of a group, as the steps that its members take together. An algorithm is one text over all engines:
//
//   GroupCall call(group, requests, options);
//   call.each([&](Member& m) { ... });                               // queue work on each member of this process
//   const auto totals = call.gather<Scalar>([&](Member& m) { ... }); // one value from each member of the group
//   call.exchange([&](Member& m, Transfer& t) { ... });              // arrays from member to member
//   call.finish();
//
// A step that fails on a member fails the call in every process, at the next gather, exchange or finish.
#pragma once
#include <cstring>
#include <deque>
#include <functional>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/contract.h"
#include "base/workspace.h"
#include "multi/engine.h"
#include "upsweep/group.h"

namespace upsweep::multi {

// Page-locked host memory of a member, which its kernels can write.
class Landing {
 public:
  explicit Landing(const Device& device) : device_(&device) {}
  Landing(Landing&& other) noexcept
      : device_(other.device_),
        memory_(std::exchange(other.memory_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)) {}
  ~Landing();
  // Returns memory for this many bytes. Growing discards the contents.
  std::byte* grow(std::size_t bytes);
  bool contains(const void* memory) const { return memory_ && memory >= memory_ && memory < memory_ + bytes_; }

 private:
  const Device* device_;
  std::byte* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

struct GroupState {
  std::vector<Device> devices;
  std::vector<Landing> landings;   // of the devices
  std::shared_ptr<Engine> engine;  // null: all members are of this process
  int size = 0, first_rank = 0;
  std::vector<int> process_of;  // by rank; empty without an engine
};

// The Error of another process's member: "member 2: ...".
class MemberError : public Error {
 public:
  using Error::Error;
};

// The error of a member of this process.
struct Failure {
  int rank;
  Error error;
};
// Returns the bytes of every member of the group, by rank; mine[k] are those of this process's member k. If a member
// has failed, throws in every process: its Error in its own, and MemberError in the others.
std::vector<std::vector<std::byte>> gather_bytes(GroupState& state, std::span<const std::vector<std::byte>> mine,
                                                 const std::optional<Failure>& failure = {});
// Tells the other processes, which are at or before a gather, that this one has failed outside of a call.
void tell_failure(Group& group, const Error& error) noexcept;

// A member of this process during a call.
class Member {
 public:
  Member(int first_rank, std::size_t index, Device& device, Landing& landing, const Request& request)
      : rank(first_rank + static_cast<int>(index)),
        index(index),
        device(device),
        request(request),
        landing_(landing),
        scratch_(device.workspace()) {}

  const int rank;
  const std::size_t index;  // among this process's members
  Device& device;
  const Request& request;

  std::uint64_t n() const { return request.in[0].count; }
  // Returns uninitialised memory of the device, until the call ends. Throws Error(out_of_memory).
  AnyView take(Type type, std::size_t count);
  // Returns page-locked host memory that kernels can write, as one array. Each call replaces the last one's.
  AnyView landing(Type type, std::size_t count);
  // Copy elements to and from host memory, and wait. What landed is there once the device has been synchronised.
  void read(const AnyView& array, std::size_t first, std::size_t count, void* to);
  void write(const AnyView& array, std::size_t first, std::size_t count, const void* from);
  Scalar read(const AnyView& array, std::size_t i);
  // Copies `count` elements, every step-th from element `first` on, to host memory, and waits. Replaces what has
  // landed.
  void read_every(const AnyView& array, std::size_t first, std::size_t step, std::size_t count, void* to);
  // Runs a call with the group's contract, or another's, on the member's device.
  void run(const Request& call, std::string_view rung = {}) { invoke(device, call, {.rung = rung}); }

 private:
  Landing& landing_;
  Scratch scratch_;
};

// Returns elements [first, first + count) of an array.
AnyView part_of(const AnyView& array, std::size_t first, std::size_t count);

class GroupCall {
 public:
  // Makes sure that all members make the same call. Throws Error(invalid_argument) if they do not.
  GroupCall(Group& group, std::span<const Request> requests, const Options& options);

  const Contract& contract() const { return *first_.contract; }
  const Request& first() const { return first_; }  // the request of this process's first member
  std::string_view rung() const { return options_.rung; }
  int size() const { return state_.size; }
  // The elements of the main input on each member, by rank; their sum over the members before one; over all.
  std::uint64_t n(int rank) const { return n_[static_cast<std::size_t>(rank)]; }
  std::uint64_t before(int rank) const;
  std::uint64_t total() const { return before(size()); }
  // The types of the arrays; empty if no member has an element of one.
  std::optional<Type> in_type(std::size_t k) const { return types_[k]; }
  std::optional<Type> out_type(std::size_t k) const { return types_[arrays_of_a_call + k]; }
  std::deque<Member>& members() { return members_; }  // of this process

  // Throws Error(invalid_argument), as one device would, if the types or sizes of the member's arrays are wrong; with
  // `any_sizes`, its outputs may have other sizes than its inputs.
  void require_arrays(const Member& member, bool any_sizes = false) const;

  // Calls f on each member of this process.
  template <class F>
  void each(F&& f) {
    for (Member& member : members_) attempt(member, f);
  }

  // Calls f on each member of this process, and returns what it returned on every member of the group, by rank.
  template <class T, class F>
  std::vector<T> gather(F&& f) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> all;
    for (const std::vector<T>& one : gather_lists<T>([&](Member& m) { return std::vector<T>{f(m)}; }))
      all.push_back(one.at(0));
    return all;
  }
  // The same for lists of any lengths.
  template <class T, class F>
  std::vector<std::vector<T>> gather_lists(F&& f) {
    std::vector<std::vector<std::byte>> mine;
    each([&](Member& m) {
      const std::vector<T> list = f(m);
      const auto bytes = std::as_bytes(std::span(list));
      mine.emplace_back(bytes.begin(), bytes.end());
    });
    std::vector<std::vector<T>> all;
    for (const std::vector<std::byte>& bytes : gather_bytes(state_, mine, failure_)) {
      all.emplace_back(bytes.size() / sizeof(T));
      if (!bytes.empty()) std::memcpy(all.back().data(), bytes.data(), bytes.size());
    }
    return all;
  }

  // Calls f(member, transfer) on each member of this process, which lists the member's pieces, and moves the pieces.
  // Returns once those of this process are in place.
  void exchange(const std::function<void(Member&, Transfer&)>& f);

  // Waits for the members of this process, and makes sure that all members of the group have succeeded.
  void finish();

 private:
  template <class F>
  void attempt(Member& member, F&& f) {
    if (failure_) return;
    try {
      f(member);
    } catch (const Error& error) {
      failure_ = {member.rank, error};
    } catch (const std::bad_alloc&) {
      failure_ = {member.rank, Error(Code::out_of_memory, "no host memory")};
    }
  }

  GroupState& state_;
  const Options options_;
  const Request first_;
  std::deque<Member> members_;
  std::vector<std::uint64_t> n_;
  std::array<std::optional<Type>, 2 * arrays_of_a_call> types_;
  std::optional<Failure> failure_;  // of a member of this process
};

// True if a primitive has a call of a group.
bool has_algorithm(std::string_view primitive);

// True if the members' arrays are parts of the output; false if every member gets the same, or its own part's count.
bool is_divided(const Contract& contract, const Call& call, std::size_t output);

// Passes the bytes that every member of the group has, by rank, to `take` in the process of member 0. parts[k] is that
// of this process's member k.
void for_each_part(Group& group, std::span<const std::vector<std::byte>> parts,
                   const std::function<void(std::span<const std::byte>)>& take);

// Runs an algorithm, or on a group of one member the call itself.
void run(Group& group, Algorithm algorithm, std::span<const Request> requests, const Options& options);

}  // namespace upsweep::multi

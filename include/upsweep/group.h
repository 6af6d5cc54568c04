// Groups: several devices that hold the parts of one array and run calls on it together.
//
//   upsweep::Group group = upsweep::Group::gpus();  // or upsweep::Group({Device::cuda(0), Device::cuda(1)})
//   std::vector<upsweep::Buffer<float>> keys = ..., sorted = ...;  // one of each member's memory, in order of rank
//   upsweep::sort(group, distributed(keys), distributed(sorted));
//   const float total = upsweep::reduce(group, distributed(keys));
//
// A group has size() members, whose ranks are 0, 1, .... Its members may be devices of this process alone, or of
// several processes that an engine joins (upsweep/mpi.h, upsweep/nccl.h). In the latter case every process makes the
// same calls in the same order, each with the parts of its own members. All members are CPUs, or all are GPUs, or all
// are emulators.
//
// A DistributedView has one part per member of this process, in order of rank. Parts may have any sizes, 0 included.
// The array is the parts of all members, one after another. Each part is in host memory or in its member's.
//
// A Group is not thread-safe. Calls return once every member is done. A call that fails on one member fails in every
// process: there the Error of the member, elsewhere one of the same code whose message begins with "member 2: ".
// Outputs are then unspecified.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "upsweep/buffer.h"
#include "upsweep/device.h"
#include "upsweep/invoke.h"
#include "upsweep/parameters/histogram.h"
#include "upsweep/parameters/partition.h"
#include "upsweep/parameters/reduce.h"
#include "upsweep/parameters/scan.h"
#include "upsweep/parameters/select.h"
#include "upsweep/parameters/sort.h"

namespace upsweep {

namespace multi {
class Engine;
class GroupCall;
struct GroupState;
using Algorithm = void (*)(GroupCall&);
// One for each primitive, so that a program links only those that it calls.
void reduce(GroupCall&);
void scan(GroupCall&);
void segmented_scan(GroupCall&);
void histogram(GroupCall&);
void select(GroupCall&);
void partition(GroupCall&);
void sort(GroupCall&);
}  // namespace multi

class Group {
 public:
  // Throw Error(invalid_argument) if there is no device, or if the devices are of different backends.
  explicit Group(std::vector<Device> devices);
  // All GPUs of this machine. Throws Error(no_device) if there is none.
  static Group gpus();
  // Members that share this machine's CPU.
  static Group cpus(int members);
  // The members of several processes, which `engine` joins; `devices` are those of this process.
  Group(std::vector<Device> devices, std::shared_ptr<multi::Engine> engine);

  Group(Group&&) noexcept;
  Group& operator=(Group&&) noexcept;
  ~Group();

  int size() const noexcept;             // members in all processes
  int first_rank() const noexcept;       // of this process's members
  std::span<Device> devices() noexcept;  // this process's members, in order of rank
  multi::GroupState& state() const noexcept { return *state_; }

 private:
  std::unique_ptr<multi::GroupState> state_;
};

// Returns the number of elements of member `rank` if n elements are divided evenly: the first n % members have one
// more.
constexpr std::uint64_t even_share(std::uint64_t n, int members, int rank) {
  const auto m = static_cast<std::uint64_t>(members), r = static_cast<std::uint64_t>(rank);
  return n / m + (r < n % m);
}

// The parts of an array that this process's members hold, in order of rank.
template <class T>
class DistributedView {
 public:
  DistributedView() = default;
  explicit DistributedView(std::vector<View<T>> parts) : parts_(std::move(parts)) {}
  template <class U>
    requires(std::same_as<const U, T>)
  DistributedView(const DistributedView<U>& v)  // NOLINT: implicit, as for View
      : parts_(v.parts().begin(), v.parts().end()) {}

  std::span<const View<T>> parts() const noexcept { return parts_; }

 private:
  std::vector<View<T>> parts_;
};

// Returns the view of a range of arrays: buffers, vectors, views. The arrays must outlive it.
template <std::ranges::range Arrays>
auto distributed(Arrays&& arrays) {
  using T = element_of<decltype(*std::ranges::begin(arrays))>;
  std::vector<View<T>> parts;
  for (auto& array : arrays) parts.push_back(view(array));
  return DistributedView<T>(std::move(parts));
}

// Runs a call of any primitive on a group; requests[k] has the arrays of this process's member k. Outputs that are
// parts of one array are the members' parts of the result; counts and totals are written by every member. What the
// typed functions below say about a primitive holds here too.
//
// Throws as invoke() of one device does; also Error(invalid_argument) if the members' calls differ, and
// Error(unsupported) for calls that a group does not support.
void invoke(Group& group, std::span<const Request> requests, const Options& options = {});

namespace detail {

// The arrays of a group's call, of which every array has a part for each member of this process.
class GroupRequest {
 public:
  GroupRequest(Group& group, multi::Algorithm run, const Contract& contract, Operation operation,
               const Scalars& scalars = {});
  template <class T>
  GroupRequest& in(std::size_t k, const DistributedView<T>& array) {
    for (std::size_t m = 0; m < parts_of(array.parts().size()); ++m) requests_[m].in[k] = array.parts()[m];
    return *this;
  }
  template <class T>
  GroupRequest& out(std::size_t k, const DistributedView<T>& array) {
    for (std::size_t m = 0; m < parts_of(array.parts().size()); ++m) requests_[m].out[k] = array.parts()[m];
    return *this;
  }
  // An output that every member writes: each gets its element of `values`.
  template <class T>
  GroupRequest& out_of_each(std::size_t k, std::vector<T>& values) {
    values.resize(requests_.size());
    for (std::size_t m = 0; m < requests_.size(); ++m) requests_[m].out[k] = host_view(&values[m], 1);
    return *this;
  }
  // An array that every member writes, with the same result.
  GroupRequest& out_of_all(std::size_t k, const AnyView& array) {
    for (Request& request : requests_) request.out[k] = array;
    return *this;
  }
  void run(const Options& options);

 private:
  std::size_t parts_of(std::size_t parts) const;  // throws Error(invalid_argument) unless there is one for each member

  Group& group_;
  const multi::Algorithm run_;
  std::vector<Request> requests_;
};

}  // namespace detail

extern const Contract reduce_contract, scan_contract, segmented_scan_contract, histogram_contract, select_contract,
    partition_contract, sort_contract;

// Copies an array to parts of other sizes, which have as many elements together. The arrays must not overlap.
void redistribute(Group& group, std::span<const AnyView> in, std::span<const AnyView> out);
template <class T>
void redistribute(Group& group, const DistributedView<T>& in, const DistributedView<std::remove_const_t<T>>& out) {
  const std::vector<AnyView> from(in.parts().begin(), in.parts().end()), to(out.parts().begin(), out.parts().end());
  redistribute(group, from, to);
}

// ---- reduce ---------------------------------------------------------------------------------------------------------

// Returns the reduction of the whole array, in every process. Float results depend on the sizes of the parts; with the
// rung "reproducible", sums have the bits that one device returns.
template <class T>
std::remove_const_t<T> reduce(Group& group, const DistributedView<T>& in, Op op = Op::sum,
                              const Options& options = {}) {
  std::vector<std::remove_const_t<T>> results;
  detail::GroupRequest(group, &multi::reduce, reduce_contract, op).in(0, in).out_of_each(0, results).run(options);
  return results[0];
}
template <class T, Element Out>
  requires(std::same_as<std::remove_const_t<T>, Out> || widens_sums(type_of<std::remove_const_t<T>>(), type_of<Out>()))
Out reduce(Group& group, const DistributedView<T>& in, Out initial, Op op = Op::sum, const Options& options = {}) {
  std::vector<Out> results;
  detail::GroupRequest(group, &multi::reduce, reduce_contract, op, reduce_scalars.scalars({.initial = initial}))
      .in(0, in)
      .out_of_each(0, results)
      .run(options);
  return results[0];
}

namespace detail {
template <class T>
std::uint64_t index_of(Group& group, const DistributedView<T>& in, IndexOf extreme, const Options& options) {
  std::vector<std::uint64_t> results;
  GroupRequest(group, &multi::reduce, reduce_contract, extreme).in(0, in).out_of_each(0, results).run(options);
  return results[0];
}
}  // namespace detail

// Return the index of the first smallest or largest element of the whole array.
template <class T>
std::uint64_t argmin(Group& group, const DistributedView<T>& in, const Options& options = {}) {
  return detail::index_of(group, in, IndexOf::min, options);
}
template <class T>
std::uint64_t argmax(Group& group, const DistributedView<T>& in, const Options& options = {}) {
  return detail::index_of(group, in, IndexOf::max, options);
}

// ---- scan -----------------------------------------------------------------------------------------------------------

namespace detail {
template <class In, class Out>
GroupRequest scan_request(Group& group, const DistributedView<In>& in, const DistributedView<Out>& out, Op op,
                          const Scanning& how) {
  GroupRequest request(group, &multi::scan, scan_contract, op, scan_scalars.scalars(how));
  request.in(0, in).out(0, out);
  return request;
}
template <class In, class Heads, class Out>
GroupRequest segmented_scan_request(Group& group, const DistributedView<In>& in, const DistributedView<Heads>& heads,
                                    const DistributedView<Out>& out, Op op, bool inclusive) {
  static_assert(sizeof(Heads) == 1 || sizeof(Heads) == 4, "heads are flags (std::uint8_t) or keys (std::uint32_t)");
  const SegmentedScanning how{.inclusive = inclusive, .heads = sizeof(Heads) == 1 ? HeadKind::flags : HeadKind::keys};
  GroupRequest request(group, &multi::segmented_scan, segmented_scan_contract, op, segmented_scan_scalars.scalars(how));
  request.in(0, in).in(1, heads).out(0, out);
  return request;
}
}  // namespace detail

// Each part of `out` has at least as many elements as that of `in`, and may be the same memory.
template <class T, class Out>
void exclusive_scan(Group& group, const DistributedView<T>& in, const DistributedView<Out>& out, Op op = Op::sum,
                    const Options& options = {}) {
  detail::scan_request(group, in, out, op, {.inclusive = false}).run(options);
}
template <class T, class Out>
void exclusive_scan(Group& group, const DistributedView<T>& in, const DistributedView<Out>& out,
                    std::type_identity_t<Out> initial, Op op = Op::sum, const Options& options = {}) {
  detail::scan_request(group, in, out, op, {.inclusive = false, .initial = initial}).run(options);
}
template <class T, class Out>
void inclusive_scan(Group& group, const DistributedView<T>& in, const DistributedView<Out>& out, Op op = Op::sum,
                    const Options& options = {}) {
  detail::scan_request(group, in, out, op, {.inclusive = true}).run(options);
}
template <class T, class Out>
void inclusive_scan(Group& group, const DistributedView<T>& in, const DistributedView<Out>& out,
                    std::type_identity_t<Out> initial, Op op = Op::sum, const Options& options = {}) {
  detail::scan_request(group, in, out, op, {.inclusive = true, .initial = initial}).run(options);
}

// Each segment is scanned separately; it may extend over any number of parts. Heads are flags, nonzero at the start of
// a segment, or keys, where a segment is a run of equal ones; they are divided like `in`.
template <class T, class Heads, class Out>
void segmented_exclusive_scan(Group& group, const DistributedView<T>& in, const DistributedView<Heads>& heads,
                              const DistributedView<Out>& out, Op op = Op::sum, const Options& options = {}) {
  detail::segmented_scan_request(group, in, heads, out, op, false).run(options);
}
template <class T, class Heads, class Out>
void segmented_inclusive_scan(Group& group, const DistributedView<T>& in, const DistributedView<Heads>& heads,
                              const DistributedView<Out>& out, Op op = Op::sum, const Options& options = {}) {
  detail::segmented_scan_request(group, in, heads, out, op, true).run(options);
}

// ---- histogram ------------------------------------------------------------------------------------------------------

// Counts the samples of all parts in counts.size() equal bins between `lower` and `upper`. Every process gets the same
// counts; those of 8 and 16 bits saturate.
template <class T, class Counter>
void histogram_even(Group& group, const DistributedView<T>& samples, double lower, double upper,
                    std::span<Counter> counts, const Options& options = {}) {
  detail::GroupRequest(group, &multi::histogram, histogram_contract, Binning::even,
                       histogram_scalars.scalars({.lower = lower, .upper = upper}))
      .in(0, samples)
      .out_of_all(0, host_view(counts.data(), counts.size()))
      .run(options);
}

// ---- select ---------------------------------------------------------------------------------------------------------

// Part m of `out` gets what is selected from part m of `in`, and has at least as many elements as that. Returns the
// number of selected elements of each of this process's members. Positions count from the start of the whole array; a
// run that extends over several parts is one, of the part in which it begins.
template <class T>
std::vector<std::uint64_t> select_if(Group& group, const DistributedView<T>& in, std::remove_const_t<T> below,
                                     const DistributedView<std::remove_const_t<T>>& out, const Options& options = {}) {
  std::vector<std::uint64_t> counts;
  detail::GroupRequest(group, &multi::select, select_contract, Selection::select_if, {below})
      .in(0, in)
      .out(0, out)
      .out_of_each(1, counts)
      .run(options);
  return counts;
}
template <class T>
std::vector<std::uint64_t> unique(Group& group, const DistributedView<T>& in,
                                  const DistributedView<std::remove_const_t<T>>& out, const Options& options = {}) {
  std::vector<std::uint64_t> counts;
  detail::GroupRequest(group, &multi::select, select_contract, Selection::unique)
      .in(0, in)
      .out(0, out)
      .out_of_each(1, counts)
      .run(options);
  return counts;
}
template <class T, class Length>
std::vector<std::uint64_t> run_length_encode(Group& group, const DistributedView<T>& in,
                                             const DistributedView<std::remove_const_t<T>>& values,
                                             const DistributedView<Length>& lengths, const Options& options = {}) {
  std::vector<std::uint64_t> counts;
  detail::GroupRequest(group, &multi::select, select_contract, Selection::run_length_encode)
      .in(0, in)
      .out(0, values)
      .out(2, lengths)
      .out_of_each(1, counts)
      .run(options);
  return counts;
}

// ---- sort -----------------------------------------------------------------------------------------------------------

// Sorts the whole array: part 0 of `out` gets the first keys, part 1 the next, and so on. All parts of `out` together
// have as many elements as those of `in`; each may have more or fewer than its member's part of `in`.
template <class T>
void sort(Group& group, const DistributedView<T>& keys, const DistributedView<std::remove_const_t<T>>& out,
          const Sorting& sorting = {}, const Options& options = {}) {
  detail::GroupRequest(group, &multi::sort, sort_contract, sorting.order, sort_scalars.scalars(sorting))
      .in(0, keys)
      .out(0, out)
      .run(options);
}
// The values move with their keys, and are divided like them.
template <class T, class V>
void sort(Group& group, const DistributedView<T>& keys, const DistributedView<V>& values,
          const DistributedView<std::remove_const_t<T>>& out, const DistributedView<std::remove_const_t<V>>& out_values,
          const Sorting& sorting = {}, const Options& options = {}) {
  detail::GroupRequest(group, &multi::sort, sort_contract, sorting.order, sort_scalars.scalars(sorting))
      .in(0, keys)
      .in(1, values)
      .out(0, out)
      .out(1, out_values)
      .run(options);
}
// indices[k] = the index in the whole array of the key that sort() writes to element k of its whole output.
template <class T, class Index>
void argsort(Group& group, const DistributedView<T>& keys, const DistributedView<Index>& indices,
             const Sorting& sorting = {}, const Options& options = {}) {
  detail::GroupRequest(group, &multi::sort, sort_contract, sorting.order, sort_scalars.scalars(sorting))
      .in(0, keys)
      .out(1, indices)
      .run(options);
}

}  // namespace upsweep

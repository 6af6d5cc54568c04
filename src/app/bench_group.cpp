#include "app/bench_group.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstring>

#include "app/command.h"
#include "app/group_streamer.h"
#include "lab/backends.h"
#include "lab/statistics.h"
#include "lab/table.h"
#include "lab/time.h"
#include "multi/group_call.h"

namespace upsweep::app {
namespace {

std::vector<int> numbers_of_members(const std::string& list) {
  std::vector<int> numbers;
  const char* at = list.data();
  const char* const end = at + list.size();
  for (;; ++at) {
    int number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc() || number < 1 || (next != end && *next != ','))
      throw Error(Code::invalid_argument, fmt::format("--devices {}: give numbers, such as 1,2,4", list));
    numbers.push_back(number);
    if (next == end) return numbers;
    at = next;
  }
}

Group open_members(int members, Backend backend) {
  bool is_first = true;
  return open_group(std::to_string(members), backend, is_first);
}

// Returns the rung that all members run; null for the library's choice.
const Rung* named_rung(const CaseOptions& cases, const Primitive& primitive, Platform& platform) {
  if (cases.rungs.empty() || cases.rungs == std::vector<std::string>{std::string(lab::default_name)}) return nullptr;
  const std::string& name = cases.rungs.front();
  const Rung* const rung = find_rung(platform.rungs_of(primitive.contract), primitive.name(), name);
  if (cases.rungs.size() > 1 || !rung)
    throw Error(Code::invalid_argument,
                fmt::format("--rung {}: a group's members run one rung of {}", name, primitive.name()),
                "name one that `upsweep list` shows for this backend, or omit --rung");
  return rung;
}

// Returns the microseconds of each of `samples` runs of f, after one that is not counted; fewer if they take longer
// than two seconds together, but at least three.
template <class F>
std::vector<double> times_of(int samples, F&& f) {
  using Clock = std::chrono::steady_clock;
  f();
  std::vector<double> all;
  double sum = 0;
  while (static_cast<int>(all.size()) < samples && (all.size() < 3 || sum < 2e6)) {
    const auto begin = Clock::now();
    f();
    all.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
    sum += all.back();
  }
  return all;
}

// Memory of a device.
struct OnDevice {
  OnDevice(Device& device, std::size_t bytes) : memory(device, std::max<std::size_t>(bytes, 1)) {}
  AnyView view(Type type, std::size_t count) {
    AnyView v;
    v.type = type, v.count = count, v.data = memory.data(), v.place = Place::device, v.owner = memory.owner();
    return v;
  }
  detail::Memory memory;
};

// The arrays of a case in the memories of a group's members, of which each has an even share.
class DividedCase {
 public:
  DividedCase(Group& group, const Primitive& primitive, const Problem& problem, const Case& c) : group_(group) {
    Call call = call_of(primitive, c);
    const auto inputs = problem.inputs(), outputs = problem.outputs();
    std::ranges::copy(inputs, call.in.begin());
    std::ranges::copy(outputs, call.out.begin());
    const std::size_t n = c.n;
    std::size_t begin = 0;
    for (int rank = 0; rank < group.size(); ++rank) {
      Device& device = group.devices()[static_cast<std::size_t>(rank)];
      const std::size_t share = even_share(n, group.size(), rank);
      Request request{.contract = &primitive.contract, .operation = call.operation, .scalars = call.scalars};
      for (std::size_t k = 0; k < inputs.size(); ++k) {
        const bool is_divided = n > 0 && inputs[k].count % n == 0 && inputs[k].count > 0;
        const std::size_t words = is_divided ? inputs[k].count / n : 1;
        const std::size_t first = is_divided ? words * begin : 0, count = is_divided ? words * share : inputs[k].count;
        const std::size_t element = size_of(inputs[k].type);
        OnDevice& memory = memories_.emplace_back(device, count * element);
        memory.memory.copy_in(static_cast<const std::byte*>(inputs[k].data) + first * element, count * element);
        request.in[k] = memory.view(inputs[k].type, count);
      }
      for (std::size_t k = 0; k < outputs.size(); ++k) {
        const bool is_divided = multi::is_divided(primitive.contract, call, k);
        const std::size_t count = is_divided && n ? outputs[k].count / n * share : outputs[k].count;
        OnDevice& memory = memories_.emplace_back(device, count * size_of(outputs[k].type));
        // The memory may still hold the right results of an earlier case.
        const Activated activated(device.platform());
        device.platform().fill(memory.memory.data(), static_cast<unsigned char>(poison),
                               count * size_of(outputs[k].type), device.stream());
        request.out[k] = memory.view(outputs[k].type, count);
      }
      requests_.push_back(request);
      begin += share;
    }
    divided_.resize(outputs.size());
    for (std::size_t k = 0; k < outputs.size(); ++k) divided_[k] = multi::is_divided(primitive.contract, call, k);
    count_output_ = primitive.contract.count_output;
  }

  void run(std::string_view rung) { invoke(group_, requests_, {.rung = rung}); }

  // Returns the results of all members, one after another; of those that are the same on all, the first member's.
  std::vector<std::byte> results() {
    std::vector<std::byte> all;
    for (std::size_t k = 0; k < divided_.size(); ++k)
      for (std::size_t m = 0; m < requests_.size(); ++m) {
        if (!divided_[k] && m > 0) break;
        if (static_cast<int>(k) == count_output_) break;
        const AnyView& view = requests_[m].out[k];
        std::uint64_t count = view.count;
        Device& device = group_.devices()[m];
        if (count_output_ >= 0) copy_out(device, requests_[m].out[static_cast<std::size_t>(count_output_)], 1, &count);
        const std::size_t before = all.size();
        all.resize(before + count * size_of(view.type));
        copy_out(device, view, count, all.data() + before);
      }
    return all;
  }

 private:
  static void copy_out(Device& device, const AnyView& view, std::size_t count, void* to) {
    if (count == 0) return;
    const Activated activated(device.platform());
    device.platform().copy_out(to, view.data, count * size_of(view.type), device.stream());
    device.synchronize();
  }
  Group& group_;
  std::vector<OnDevice> memories_;
  std::vector<Request> requests_;
  std::vector<bool> divided_;
  int count_output_ = Contract::no_count;
};

// Times copies of `bytes` from each member's memory to the next one's, all at once.
lab::Measurement time_copies(Group& group, std::size_t bytes, int samples) {
  const std::span<Device> devices = group.devices();
  std::vector<OnDevice> from, to;
  for (Device& device : devices) from.emplace_back(device, bytes), to.emplace_back(device, bytes);
  const auto copy = [&] {
    for (std::size_t m = 0; m < devices.size(); ++m) {
      const std::size_t next = (m + 1) % devices.size();
      const Activated activated(devices[next].platform());
      devices[next].platform().copy_from(devices[m].platform(), to[next].memory.data(), from[m].memory.data(), bytes,
                                         devices[next].stream());
    }
    for (Device& device : devices) device.synchronize();
  };
  lab::Measurement measured;
  const std::vector<double> times = times_of(samples, copy);
  measured.time.us = lab::quartiles(times);
  measured.samples = static_cast<int>(times.size());
  return measured;
}

}  // namespace

int bench_groups(const GroupBench& bench, Output& output) {
  const auto backends =
      chosen_backends(bench.cases, {lab::present_backends().back() == Backend::cuda ? Backend::cuda : Backend::cpu});
  if (backends.size() != 1) throw Error(Code::invalid_argument, "--devices: name one backend");
  const Backend backend = backends[0];
  Platform& platform = lab::open_platform(backend);
  const auto identity = lab::identify(platform.describe());
  const std::vector<int> members = numbers_of_members(bench.devices);
  std::vector<std::pair<const Primitive*, const Rung*>> contestants;
  for (const Primitive* primitive : chosen_primitives(bench.cases)) {
    if (multi::has_algorithm(primitive->name()))
      contestants.emplace_back(primitive, named_rung(bench.cases, *primitive, platform));
    else if (!bench.cases.primitives.empty())
      throw Error(Code::unsupported, fmt::format("{} has no call of a group", primitive->name()), "omit --devices");
  }
  for (const int m : members) open_members(m, backend);  // an error now, not after minutes
  output.table(fmt::format("{}\n", identity.description.device));
  bool all_right = true;
  for (const auto& [primitive, named] : contestants) {
    const Rung* const rung = named ? named : lab::default_rung(platform, *primitive);
    for (const Type type : chosen_types(bench.cases, *primitive, {Type::u32}))
      for (const Operation operation : chosen_operations(bench.cases, *primitive, {primitive->operations().front()}))
        for (const std::string& input : chosen_inputs(bench.cases, *primitive, type))
          for (const std::size_t n : chosen_sizes(bench.cases, *primitive, input, "2^24")) {
            std::vector<std::byte> expected;
            double one_us = 0;
            for (const int m : members) {
              Case c{.type = type, .operation = operation, .n = n, .input = input};
              if (bench.per_device) c.n *= static_cast<std::size_t>(m);
              set_params(bench.cases, *primitive, backend, c);
              lab::require_room(platform, identity.description, c);
              const auto problem = primitive->make(c, {});
              lab::Measurement measured;
              measured.rung = rung;
              measured.traffic = problem->traffic(*rung);
              std::vector<std::byte> results;
              {
                Group group = open_members(m, backend);
                DividedCase divided(group, *primitive, *problem, c);
                const auto call = [&] { divided.run(named ? named->name : std::string_view()); };
                call();
                results = divided.results();
                const std::vector<double> times = times_of(bench.samples, call);
                measured.time.us = lab::quartiles(times);
                measured.samples = static_cast<int>(times.size());
              }
              if (expected.empty() || bench.per_device) {
                Group one = open_members(1, backend);
                DividedCase whole(one, *primitive, *problem, c);
                whole.run(named ? named->name : std::string_view());
                expected = whole.results();
                if (one_us == 0)
                  one_us = lab::quartiles(times_of(bench.samples, [&] {
                             whole.run(named ? named->name : std::string_view());
                           })).median;
              }
              measured.checked = results == expected;
              all_right &= measured.checked;
              if (!measured.checked) measured.failure = "not the results of one device";
              lab::Record record = make_record(identity, *primitive, c, lab::Situation::alone, measured, nullptr);
              record.params.emplace_back("devices", std::to_string(m));
              output.record(record);
              const double us = measured.time.us.median;
              output.table(fmt::format(
                  "{} {} {} n={} {}: {} device{} {}{}\n", primitive->name(), operation.name(), to_string(type), c.n,
                  input, m, m == 1 ? "" : "s", measured.checked ? lab::time_text(us) : "WRONG",
                  bench.per_device ? fmt::format(", {:.3f} of the time of one with {}", us / one_us, n)
                                   : fmt::format(", {:.2f}x one", one_us / us)));
            }
          }
  }
  for (const int m : members) {
    if (m == 1) continue;
    Group group = open_members(m, backend);
    // Members of a CPU copy within one memory, which 16 MiB show as well.
    for (const unsigned log2_bytes : {12u, 20u, 24u, 28u, 30u}) {
      if (backend == Backend::cpu && log2_bytes > 24) break;
      const std::size_t bytes = std::size_t{1} << log2_bytes;
      const lab::Ceiling ceiling{.kind = fmt::format("exchange of {}", m),
                                 .n = bytes / sizeof(std::uint32_t),
                                 .bytes = bytes,
                                 .measured = time_copies(group, bytes, bench.samples)};
      output.record(make_record(identity, backend, ceiling));
      output.table(fmt::format("exchange among {}, {} bytes each way: {}, {:.4g} GB/s\n", m, bytes,
                               lab::time_text(ceiling.measured.time.us.median), ceiling.gbs()));
    }
  }
  output.commit();
  return all_right ? Exit::all_right : Exit::wrong_result;
}

}  // namespace upsweep::app

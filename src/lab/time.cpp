#include "lab/time.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <system_error>

#include "cpu/host_memory.h"
#include "files/interrupt.h"
#include "lab/check.h"
#include "lab/rng.h"
#include "lab/sums.h"

namespace upsweep::lab {

namespace {

// Minimum duration of a CPU sample. A multi-threaded contestant finds its threads asleep at the start, and waking them
// takes tens of microseconds, which would dominate a shorter sample. (Real callers call again soon, while the threads
// are awake.)
constexpr double shortest_cpu_sample_us = 500;
// Calls per CUDA graph: enough for a millisecond, so that the 1 or 2 us of launching a graph are negligible, but at
// least 10 and at most 64, because capturing and instantiating a graph costs microseconds per node.
constexpr double graph_us = 1000;
constexpr int fewest_launches = 10, most_launches = 64;
// The total size of all copies, as a multiple of the last-level cache. A GPU's L2 is not strictly LRU: with copies of
// only twice its size, some lines would still hit.
constexpr std::size_t cache_fillings_cpu = 2, cache_fillings_cuda = 8;
// Maximum number of copies: with more, the benchmark would only measure page-table walks.
constexpr std::size_t most_copies = 65536;
// Maximum number of samples, however short the calls: more would not make the quartiles more accurate.
constexpr double most_samples = 100'000;
// Minimum bytes for measuring a ceiling, whatever the cache size: enough to hide launches and thread wake-ups.
constexpr std::size_t least_ceiling_bytes = std::size_t{256} << 20;
// A ceiling is best measured over eight times the cache size. Because caches of up to a gigabyte exist, this is limited
// to 1/32 of the memory (a ceiling has two arrays, and other programs may run), but to no less than twice the cache
// size, which still reads from memory.
constexpr std::size_t ceiling_share = 32;

std::size_t round_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

// True if another thread of this process is running or runnable. Always false except on Linux.
bool other_threads_run() {
  const std::string self = std::to_string(gettid());
  std::error_code none;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", none)) {
    if (task.path().filename() == self) continue;
    std::ifstream file(task.path() / "stat");  // fields: pid (name) state ...
    std::string stat;
    std::getline(file, stat);
    const std::size_t name_end = stat.rfind(')');
    if (name_end != std::string::npos && stat.compare(name_end, 3, ") R") == 0) return true;
  }
  return false;
}

// Waits until the previous contestant's threads sleep. OpenMP's threads keep polling for work for some milliseconds,
// which costs the next contestant a core: on two Zen 4 cores, an i32 sum of 2^20 elements in cache ran at 100 GB/s
// instead of 162 after an OpenMP contestant, and std::reduce(par_unseq) at 89 instead of 148. The waiting thread spins,
// so that its core does not clock down.
void wait_for_other_threads() {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds longest{50};  // libgomp's threads took 6 ms
  const auto begin = Clock::now();
  while (other_threads_run() && Clock::now() - begin < longest) continue;
}

}  // namespace

// Copies of one case's arrays, usually many, in one kind of the platform's memory.
class Copies {
 public:
  Copies(Platform& platform, MemoryKind kind, const Problem& problem, std::size_t copies)
      : platform_(platform), memory_(platform.memory(kind)), copies_(copies) {
    try {
      for (const Array& array : problem.inputs()) {
        const Slot& slot = add(in_, array);
        for (std::size_t i = 0; i < copies_; ++i) memory_.copy_in(slot.at(i), array.data, slot.bytes);
      }
      for (const Array& output : problem.outputs()) {
        if (output.data) {
          const auto inputs = problem.inputs();
          const auto input =
              std::find_if(inputs.begin(), inputs.end(), [&](const Array& in) { return in.data == output.data; });
          out_.push_back(in_[static_cast<std::size_t>(input - inputs.begin())]);
          out_.back().overwritten = output.data;
          continue;
        }
        const Slot& slot = add(out_, output);
        memory_.fill(slot.memory, static_cast<unsigned char>(poison), slot.stride * copies_);
      }
      platform_.synchronize();
    } catch (...) {
      release();
      throw;
    }
  }
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;
  ~Copies() { release(); }

  // Points the call at the least recently used copy. All contestants share the position: with separate positions, a
  // contestant would find in the cache the copy that its predecessor had just loaded.
  void point_next(Call& call) {
    point(call, next_);
    if (++next_ == copies_) next_ = 0;
  }
  void point_first(Call& call) const { point(call, 0); }
  // Poisons the outputs of the first copy, and restores the input of an in-place output.
  void renew_outputs() const {
    for (const Slot& slot : out_)
      if (slot.overwritten)
        memory_.copy_in(slot.memory, slot.overwritten, slot.bytes);
      else
        memory_.fill(slot.memory, static_cast<unsigned char>(poison), slot.bytes);
    platform_.synchronize();
  }
  // Verifies the outputs of the first copy.
  std::optional<std::string> verify(const Problem& problem, const Rung& rung) const {
    std::vector<std::vector<std::byte>> host;
    std::vector<const void*> outputs;
    for (const Slot& slot : out_) {
      host.emplace_back(std::max<std::size_t>(slot.bytes, 1));
      memory_.copy_out(host.back().data(), slot.memory, slot.bytes);
      outputs.push_back(host.back().data());
    }
    platform_.synchronize();
    return problem.verify(rung, outputs);
  }

 private:
  void point(Call& call, std::size_t copy) const {
    for (std::size_t k = 0; k < in_.size(); ++k) call.in[k] = in_[k].array(copy);
    for (std::size_t k = 0; k < out_.size(); ++k) call.out[k] = out_[k].array(copy);
  }
  struct Slot {
    Type type;
    std::size_t count;
    void* memory;
    std::size_t bytes, stride;
    const void* overwritten = nullptr;  // host data of the input that an in-place output overwrites
    void* at(std::size_t copy) const { return static_cast<std::byte*>(memory) + copy * stride; }
    Array array(std::size_t copy) const { return {type, count, at(copy)}; }
  };
  const Slot& add(std::vector<Slot>& slots, const Array& array) {
    const std::size_t bytes = array.bytes();
    const std::size_t stride = round_up(std::max<std::size_t>(bytes, 1), 256);
    slots.reserve(slots.size() + 1);  // so that nothing can throw between allocate() and the slot's construction
    slots.push_back({array.type, array.count, memory_.allocate(stride * copies_), bytes, stride});
    return slots.back();
  }
  void release() {
    for (auto* slots : {&in_, &out_})
      for (Slot& slot : *slots)
        if (!slot.overwritten) memory_.release(slot.memory);
  }
  Platform& platform_;
  MemorySpace& memory_;
  std::size_t copies_, next_ = 0;
  std::vector<Slot> in_, out_;
};

namespace {

std::size_t case_bytes(const Problem& problem) {
  std::size_t bytes = 0;
  for (const Array& array : problem.inputs()) bytes += array.bytes();
  for (const Array& output : problem.outputs())
    if (!output.data) bytes += output.bytes();
  return bytes;
}

std::string gib(std::size_t bytes) { return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1 << 30)); }

}  // namespace

void require_room(const Platform& platform, const Description& description, const Case& c, Purpose purpose) {
  const std::size_t element = size_of(c.type);
  const auto require = [&](const std::string& what, std::size_t count, std::size_t copies, std::size_t room,
                           const char* where, const char* unit) {
    const std::size_t most = room / element / copies;
    if (count <= most) return;
    const bool far = count > most * 1000;
    throw Error(Code::out_of_memory,
                fmt::format("{} needs {} of {} memory, {} are available", what,
                            far ? "far too much" : gib(count * element * copies), where, gib(room)),
                fmt::format("use {} up to {}", unit, most));
  };
  const std::string n = fmt::format("n={} {}", c.n, to_string(c.type));
  const bool on_host = platform.backend() != Backend::cuda;
  const std::size_t copies = (on_host ? 2 : 1) + (purpose == Purpose::check ? 1 : 0), host = available_host_bytes();
  require(n, c.n, copies, host, "host", "n");
  const bool has_own = platform.backend() != Backend::cpu && description.memory_bytes;
  if (has_own) require(n, c.n, 1, description.memory_bytes, "device", "n");
  const std::size_t blocks = c.tuning.grid.peek();
  const std::string grid = fmt::format("a grid of {} blocks", blocks);
  if (on_host) require(grid, blocks, copies, host, "host", "grids");
  if (has_own) require(grid, blocks, 1, description.memory_bytes, "device", "grids");
}

// One contestant on one case, with its samples.
struct Stopwatch::Lane {
  const Primitive* primitive;
  const Rung* rung;
  RunFn run;
  Case c;
  std::shared_ptr<Copies> copies;
  Measurement result{};
  Status status{};  // the last failed call's
  int batch = 1;
  Situation situation = Situation::back_to_back;
  std::vector<double> turns[2]{};  // samples of the A/A test: of A and of A'
  Call arguments{};

  // Builds the call once: a CPU rung takes 30 ns at 2^10 elements, so filling in 300 bytes of arguments for every call
  // would show.
  void prepare(Workspace& workspace, Stream stream) {
    arguments = call_of(*primitive, c);
    arguments.workspace = &workspace;
    arguments.stream = stream;
  }
  void call() {
    copies->point_next(arguments);
    start();
  }
  void start() {
    if (const Status s = run(arguments); !s) status = s;
  }
  void renew() {  // discards the last measurement
    turns[0].clear();
    turns[1].clear();
  }
  // Runs the rung once and checks the result against the oracle. A failure or refusal is recorded in `result`, not
  // thrown.
  void verify(Platform& platform, Workspace& workspace, const Problem& problem) {
    try {
      copies->renew_outputs();
      prepare(workspace, {});
      copies->point_first(arguments);
      start();
      platform.synchronize();
      if (status.code == Code::unsupported && (rung->peer || c.tuning != Tuning{} || !takes_sum(*rung, c))) {
        result.refused = status.message ? status.message : "no message";
        return;
      }
      if (!failed()) result.failure = copies->verify(problem, *rung);
      result.checked = !result.failure;
    } catch (const Error& error) {
      if (error.code() == Code::interrupted) throw;
      result.failure = error.what();
    }
  }
  bool failed() {
    if (!status && !result.failure)
      result.failure = fmt::format("returned an error: {}", status.message ? status.message : "no message");
    return result.failure.has_value();
  }
};

Stopwatch::Stopwatch(Platform& platform, std::unique_ptr<Clock> clock)
    : platform_(platform),
      clock_(std::move(clock)),
      description_(platform.describe()),
      stream_(platform.create_stream()),
      workspace_(platform) {}

Stopwatch::~Stopwatch() { platform_.destroy_stream(stream_); }

void Stopwatch::interleave(std::vector<Lane*> lanes, const TimeOptions& options) {
  const bool cuda = platform_.backend() == Backend::cuda;
  const auto sample = [&](Lane& lane, int samples, int batch) {
    throw_if_interrupted();
    if (!cuda) wait_for_other_threads();
    const bool host_has_a_part = lane.rung->synchronises || lane.rung->from_host();
    const auto timed = [&](const Clock::Enqueue& enqueue) {
      return host_has_a_part ? clock_->time_calls_us(enqueue, samples, batch, stream_)
                             : clock_->time_us(enqueue, samples, batch, stream_);
    };
    const auto call = [&lane](int) { lane.call(); };
    if (lane.situation == Situation::alone && !host_has_a_part) return clock_->time_alone_us(call, samples, stream_);
    if (lane.situation != Situation::mixed) return timed(call);
    Lane& neighbour = neighbour_lane();
    std::vector<double> times = timed([&](int) {
      neighbour.call();
      lane.call();
    });
    const double own = quartiles(timed([&](int) { neighbour.call(); })).median;
    for (double& us : times) us -= own;
    return times;
  };
  std::erase_if(lanes, [](Lane* lane) { return lane->result.refused || lane->failed(); });

  // Warms up, then chooses the calls per sample and the number of samples that fit the budget.
  for (Lane* lane : lanes) {
    lane->prepare(workspace_, stream_);
    lane->call();
    platform_.synchronize(stream_);
    double us = std::max(sample(*lane, 2, 1).back(), 1e-3);
    if (lane->situation == Situation::alone) {
      lane->batch = 1;
    } else if (cuda) {
      const double affordable = options.budget_us / options.samples / us;
      const double wanted = std::clamp(graph_us / us, double{fewest_launches}, double{most_launches});
      lane->batch = static_cast<int>(std::clamp(affordable, 1.0, wanted));
    } else {
      // A single short call is mostly clock overhead, so the batch size is derived from a longer sample.
      const auto batch_for = [](double t) {
        return static_cast<int>(std::clamp(std::ceil(shortest_cpu_sample_us / t), 1.0, 65536.0));
      };
      us = std::max(sample(*lane, 2, batch_for(us)).back(), 1e-3);
      lane->batch = batch_for(us);
    }
    const double affordable = options.budget_us / (us * lane->batch);
    const double wanted = std::clamp(affordable, 4.0, static_cast<double>(options.samples));
    const double least = std::min(std::ceil(options.least_us / (us * lane->batch)), most_samples);
    lane->result.samples = static_cast<int>(std::max(wanted, least));
  }

  // A turn is one visit to a contestant. Each visit costs a graph capture on a GPU, so a turn there takes several
  // samples.
  const int samples_per_turn = cuda ? std::max(1, options.samples / 10) : 1;
  const auto unfinished = [](const Lane* lane) {
    return static_cast<int>(lane->turns[0].size() + lane->turns[1].size()) < lane->result.samples;
  };
  // The contestants are visited in a new random order every time, because a contestant's predecessor determines the
  // state of caches, memory controller queues and clock frequency. When it always ran after its fastest rival, one loop
  // took 196 ns instead of 136 (f32, n = 2^10, cold, on a virtual machine).
  const Random random(0);
  std::uint64_t drawn = 0;
  std::vector<Lane*> order = lanes;
  while (std::any_of(lanes.begin(), lanes.end(), unfinished))
    for (int turn = 0; turn < 2; ++turn) {
      for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[scale(random(drawn++), i)]);
      for (Lane* lane : order) {
        // Takes both turns of a round or neither, so that A and A' have equally many samples.
        if (turn == 0 ? !unfinished(lane) : lane->turns[1].size() >= lane->turns[0].size()) continue;
        for (const double us : sample(*lane, samples_per_turn, lane->batch)) lane->turns[turn].push_back(us);
      }
    }

  for (Lane* lane : lanes) {
    if (lane->failed()) continue;
    std::vector<double> all = lane->turns[0];
    all.insert(all.end(), lane->turns[1].begin(), lane->turns[1].end());
    lane->result.samples = static_cast<int>(all.size());
    lane->result.time = {quartiles(std::move(all)),
                         relative_difference(quartiles(lane->turns[0]).median, quartiles(lane->turns[1]).median)};
  }
}

// Builds a contestant on the given copies and, if the options say so, verifies it. Returns null if the rung does not
// take the case.
std::unique_ptr<Stopwatch::Lane> Stopwatch::make_lane(const Primitive& primitive, const Rung& rung, const Case& c,
                                                      const Problem& problem, std::shared_ptr<Copies> copies,
                                                      const TimeOptions& options) {
  const RunFn run = rung.find_for(c.type, c.operation, c.n);
  if (!run) return nullptr;
  auto lane = std::make_unique<Lane>(
      Lane{.primitive = &primitive, .rung = &rung, .run = run, .c = c, .copies = std::move(copies)});
  lane->situation = options.situation;
  lane->result.rung = &rung;
  lane->result.traffic = problem.traffic(rung);
  if (options.check) lane->verify(platform_, workspace_, problem);
  return lane;
}

// Returns the unrelated work of Situation::mixed: a copy that evicts cache lines. Copying 4 MiB takes about 3 us on a
// GPU, and copying 16 KiB less than 1 us on a CPU core: long compared with a launch or a call, short compared with the
// timed work.
Stopwatch::Lane& Stopwatch::neighbour_lane() {
  if (!neighbour_) {
    const Primitive& primitive = *find_primitive("ceiling");
    const Rung& rung = *find_rung(platform_.rungs_of(primitive.contract), "ceiling", "copy");
    const std::size_t n = std::size_t{1} << (platform_.backend() == Backend::cuda ? 20 : 12);
    const Case c{.type = primitive.types().front(), .n = n};
    const auto problem = primitive.make(c, {});
    neighbour_ = make_lane(primitive, rung, c, *problem, std::make_shared<Copies>(platform_, rung.arrays, *problem, 1),
                           {.check = false});
    neighbour_->prepare(workspace_, stream_);
  }
  return *neighbour_;
}

Stopwatch::Lane* Stopwatch::ceiling_lane(std::string_view kind, std::size_t bytes) {
  const Primitive* primitive = find_primitive("ceiling");
  const Rung* rung = primitive ? find_rung(platform_.rungs_of(primitive->contract), "ceiling", kind) : nullptr;
  if (!rung) return nullptr;
  std::unique_ptr<Lane>& lane = ceiling_lanes_[std::string(kind)];
  Case c{.type = primitive->types().front(), .n = std::size_t{1} << 20};
  // The traffic of 2^20 elements gives the bytes per element.
  const std::size_t each = primitive->make(c, {})->traffic(*rung).bytes >> 20;
  c.n = each ? bytes / each : 0;
  if (!lane || lane->c.n != c.n) {
    lane.reset();  // freed before its successor is built, because both may not fit together
    const auto problem = primitive->make(c, {});
    lane =
        make_lane(*primitive, *rung, c, *problem, std::make_shared<Copies>(platform_, rung->arrays, *problem, 1), {});
  } else {
    lane->renew();
  }
  return lane.get();
}

std::vector<Measurement> Stopwatch::measure(const Primitive& primitive, const Case& c,
                                            const std::vector<const Rung*>& rungs, const TimeOptions& options) {
  require_room(platform_, description_, c);
  const auto problem = primitive.make(c, {});

  // Makes enough copies of the arrays to fill the last-level cache several times, in each kind of memory used. One copy
  // suffices in host memory, which a device's cache does not hold.
  const std::size_t bytes = std::max<std::size_t>(case_bytes(*problem), 1);
  const std::size_t times = platform_.backend() == Backend::cuda ? cache_fillings_cuda : cache_fillings_cpu;
  std::size_t wanted = is_cold(options.situation) ? times * description_.cache_bytes / bytes + 1 : 1;
  // Even a case many times the cache size leaves its tail in the cache for the next call, so it gets two copies if they
  // fit.
  if (is_cold(options.situation) && 4 * bytes <= description_.memory_bytes) wanted = std::max<std::size_t>(wanted, 2);
  std::map<MemoryKind, std::shared_ptr<Copies>> copies;
  for (const Rung* rung : rungs)
    if (std::shared_ptr<Copies>& made = copies[rung->arrays]; !made && rung->find_for(c.type, c.operation, c.n))
      made = std::make_shared<Copies>(platform_, rung->arrays, *problem,
                                      rung->from_host() ? 1 : std::min(wanted, most_copies));

  std::vector<std::unique_ptr<Lane>> contestants;
  std::vector<Lane*> lanes;
  std::map<std::string, std::size_t> traffic;  // maximum bytes over contestants, by kind of ceiling
  for (const Rung* rung : rungs)
    if (auto lane = make_lane(primitive, *rung, c, *problem, copies[rung->arrays], options)) {
      const Traffic& t = lane->result.traffic;
      std::size_t& most = traffic[std::string(t.ceiling)];
      most = std::max(most, t.bytes);
      lanes.push_back(lane.get());
      contestants.push_back(std::move(lane));
    }

  // For a large case, the ceiling is measured over at least as many bytes, interleaved with the contestants, because
  // machines drift. A small case is compared with this run's latest ceiling; if there is none, one is measured first.
  const std::size_t cache = description_.cache_bytes, share = description_.memory_bytes / ceiling_share;
  const std::size_t ceiling_bytes = std::max({least_ceiling_bytes, 2 * cache, std::min(8 * cache, share)});
  std::vector<Lane*> beside, before;
  for (const auto& [kind, most] : traffic) {
    const bool large = most >= ceiling_bytes / 4;
    if (!large && ceilings_.contains(kind)) continue;
    if (Lane* lane = ceiling_lane(kind, std::max(ceiling_bytes, most))) (large ? beside : before).push_back(lane);
  }
  interleave(before, options);
  lanes.insert(lanes.end(), beside.begin(), beside.end());
  interleave(lanes, options);

  before.insert(before.end(), beside.begin(), beside.end());
  for (const Lane* lane : before) {
    const std::string kind(lane->rung->name);
    ceilings_.insert_or_assign(kind, Ceiling{.kind = kind,
                                             .n = lane->c.n,
                                             .type = lane->c.type,
                                             .bytes = lane->result.traffic.bytes,
                                             .measured = lane->result});
  }
  std::vector<Measurement> measurements;
  for (const auto& lane : contestants) {
    measurements.push_back(lane->result);
    measurements.back().tuning = only_read(lane->arguments.tuning);
  }
  return measurements;
}

const Ceiling* Stopwatch::ceiling(std::string_view kind) const {
  const auto found = ceilings_.find(kind);
  return found == ceilings_.end() || found->second.measured.failure ? nullptr : &found->second;
}

std::vector<Ceiling> Stopwatch::ceilings() const {
  std::vector<Ceiling> all;
  for (const auto& [kind, ceiling] : ceilings_) all.push_back(ceiling);
  return all;
}

}  // namespace upsweep::lab

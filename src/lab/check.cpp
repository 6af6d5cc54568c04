#include "lab/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/interrupt.h"
#include "lab/sizes.h"
#include "lab/stage.h"

namespace upsweep::lab {

namespace {

// Where kernels break: nothing at all, one, around a warp, around a block and around the largest block; then odd and
// prime sizes, and some that need more than one pass.
constexpr std::size_t edge_sizes[] = {0, 1, 2, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025};
constexpr std::size_t odd_sizes[] = {97, 1009, 4093, 10'007, 65'537, 100'003, 1'000'003, 1 << 20, (1 << 22) + 3};

// Launch shapes that a rung is swept over; the first is the rung's own.
std::vector<Params> shapes_of(Backend backend) {
  std::vector<Params> shapes(1);
  if (backend == Backend::cpu) {
    for (const int threads : {1, 2, 3}) shapes.emplace_back().set("threads", threads);
    return shapes;
  }
  // Small grids, which an emulator runs quickly; odd ones, so that chunks do not divide evenly.
  constexpr struct { int block, grid; } small[] = {{32, 7}, {64, 1}, {128, 3}, {256, 2}, {512, 5}, {1024, 1}};
  for (const auto& [block, grid] : small) {
    shapes.emplace_back().set("block", block);
    shapes.back().set("grid", grid);
  }
  if (backend == Backend::cuda)
    for (const int block : {32, 64, 128, 256, 512, 1024}) shapes.emplace_back().set("block", block);
  return shapes;
}

struct Combination {
  Type type;
  Op op;
  Params params;
  std::string input;
};

// Walks through types x operators x parameters x inputs so that each of the first three comes once a round, with
// another input in each round: after as many rounds as there are inputs, each combination has come once.
class Combinations {
 public:
  Combinations(const Primitive& primitive, const CheckOptions& options) {
    const auto all_types = options.types.empty() ? primitive.types() : options.types;
    const auto all_ops = options.ops.empty() ? primitive.ops() : options.ops;
    for (const Type type : all_types) {
      auto inputs = primitive.inputs(type);
      if (!options.inputs.empty())  // those of the named ones that this type has
        std::erase_if(inputs, [&](const std::string& name) {
          return std::find(options.inputs.begin(), options.inputs.end(), name) == options.inputs.end();
        });
      if (inputs.empty()) continue;
      for (const Op op : all_ops)
        for (const Params& params : primitive.variants()) {
          lines_.push_back({type, op, params, inputs});
          count_ += inputs.size();
        }
    }
  }
  std::size_t count() const { return count_; }
  std::vector<Combination> every() const {
    std::vector<Combination> all;
    for (const Line& line : lines_)
      for (const std::string& input : line.inputs) all.push_back({line.type, line.op, line.params, input});
    return all;
  }
  std::vector<Combination> next(std::size_t how_many) {
    std::vector<Combination> lot;
    for (; how_many > 0 && !lines_.empty(); --how_many, ++at_) {
      const std::size_t index = at_ % lines_.size(), round = at_ / lines_.size();
      const Line& line = lines_[index];
      // Starting each line at another input shows every input early, even in a short walk.
      lot.push_back({line.type, line.op, line.params, line.inputs[(round + index) % line.inputs.size()]});
    }
    return lot;
  }

 private:
  struct Line {
    Type type;
    Op op;
    Params params;
    std::vector<std::string> inputs;
  };
  std::vector<Line> lines_;
  std::size_t count_ = 0, at_ = 0;
};

const char* alignment_text(Layout::Shift shift) {
  return shift == Layout::Shift::none ? "" : shift == Layout::Shift::alike ? " misaligned" : " misaligned apart";
}

// One call, twice with the same scratch, in a launch shape added to the case's own parameters. Nothing when both are
// right. `shape` becomes empty, the rung's own, when the rung does not take it.
std::optional<std::string> try_case(Stage& stage, simt::Emulator* emulator, const Rung& rung, RunFn run, const Case& c,
                                    Params& shape, std::size_t& runs) {
  std::optional<std::string> wrong;
  try {
    for (int turn = 0; turn < 2 && !wrong; ++turn) {
      Status status = stage.run(run, c.params.with(shape));
      // A launch shape that the rung says it does not take is no failure; its own shape has to work.
      if ((status.code == Code::unsupported || status.code == Code::invalid_argument) && !shape.empty()) {
        shape = {};
        status = stage.run(run, c.params);
      }
      ++runs;
      if (!status)
        wrong = fmt::format("returned an error: {}", status.message ? status.message : "no message");
      else
        wrong = stage.verify(rung);
      if (wrong && turn == 1) *wrong += " (second call with the same workspace; the first was right)";
    }
  } catch (const Error& error) {
    if (error.code() == Code::interrupted) throw;
    wrong = error.what();
  }
  if (emulator) {
    const simt::Report report = emulator->take_report();
    if (!report.issues.empty()) {
      const simt::Issue& issue = report.issues.front();
      return fmt::format("{}: {} ({} times)", issue.kind, issue.text, issue.count);
    }
  }
  return wrong;
}

}  // namespace

std::string describe(const Case& c) {
  std::string text = fmt::format("{} {} n={} input={}", to_string(c.type), to_string(c.op), size_text(c.n), c.input);
  for (const Params::Item& item : c.params) text += fmt::format(" {}={}", item.name, item.value);
  return text;
}

std::vector<std::size_t> check_sizes(const Primitive& primitive, const std::vector<const Rung*>& rungs,
                                     const Depth& depth) {
  std::set<std::size_t> sizes(std::begin(edge_sizes), std::end(edge_sizes));
  sizes.insert(std::begin(odd_sizes), std::end(odd_sizes));
  for (const Rung* rung : rungs) {
    const auto own = primitive.sizes(*rung);
    sizes.insert(own.begin(), own.end());
  }
  sizes.erase(sizes.upper_bound(depth.largest), sizes.end());
  return {sizes.begin(), sizes.end()};
}

std::vector<RungCheck> check(Platform& platform, simt::Emulator* emulator, const Primitive& primitive,
                             const std::vector<const Rung*>& rungs, const CheckOptions& options) {
  const bool traced = emulator && emulator->instrumented();
  const std::string platform_name = std::string(to_string(platform.backend())) + (traced ? " traced" : "");
  std::vector<RungCheck> results;
  for (const Rung* rung : rungs) results.push_back({.rung = rung, .platform = platform_name});

  const auto sizes = options.sizes.empty() ? check_sizes(primitive, rungs, options.depth) : options.sizes;
  const auto shapes = shapes_of(platform.backend());
  Combinations combinations(primitive, options);
  const auto at_size = [&](std::size_t n) {
    const std::size_t some = std::min(options.depth.combinations, combinations.count());
    return n <= options.depth.every_combination_to ? combinations.count() : some;
  };
  std::size_t total = 0, done = 0;
  for (const std::size_t n : sizes) total += at_size(n);

  // One for each kind of memory that the rungs' arrays lie in.
  std::map<MemoryKind, Stage> stages;
  for (const Rung* rung : rungs) stages.try_emplace(rung->arrays, platform, rung->arrays);
  // The traced emulator watches the edges of allocations itself, and sees reads too.
  const std::size_t guard = traced ? 0 : 256;
  if (emulator) emulator->take_report();
  for (const std::size_t n : sizes) {
    const bool every = n <= options.depth.every_combination_to;
    for (const Combination& combination : every ? combinations.every() : combinations.next(at_size(n))) {
      throw_if_interrupted();
      if (options.progress) options.progress(done, total);
      const Case c{.type = combination.type,
                   .op = combination.op,
                   .n = n,
                   .input = combination.input,
                   .params = combination.params};
      const auto problem = primitive.make(c, {});
      // In the rung's own shape, aligned, and in one of the others, misaligned every other time, alike and apart in
      // turn.
      for (const bool own_shape : {true, false}) {
        if (own_shape && done % options.depth.own_shape_every != 0) continue;
        const Params& shape = own_shape ? shapes[0] : shapes[1 + done % (shapes.size() - 1)];
        // The division keeps shapes and alignments from going in step.
        using Shift = Layout::Shift;
        constexpr Shift shifts[] = {Shift::alike, Shift::none, Shift::apart, Shift::none};
        const Shift shift = own_shape ? Shift::none : shifts[done / (shapes.size() - 1) % std::size(shifts)];
        std::set<MemoryKind> loaded;
        for (RungCheck& result : results) {
          if (result.failures.size() >= options.most_failures) continue;
          const RunFn run = result.rung->find_for(c.type, c.op, n);
          if (!run) continue;
          Stage& stage = stages.at(result.rung->arrays);
          if (loaded.insert(result.rung->arrays).second)
            stage.load(*problem, c, {.guard_bytes = guard, .shift = shift});
          Params used = shape;
          auto wrong = try_case(stage, emulator, *result.rung, run, c, used, result.runs);
          if (!wrong) continue;
          Case shown = c;
          shown.params = c.params.with(used);
          result.failures.push_back(fmt::format("{}/{} {} {}{}: {}", result.rung->primitive, result.rung->name,
                                                platform_name, describe(shown), alignment_text(shift), *wrong));
          // It may have spoilt the inputs and left the counters at anything: the next rung starts clean.
          stage.load(*problem, c, {.guard_bytes = guard, .shift = shift});
          stage.renew_workspace();
        }
      }
      ++done;
    }
  }
  if (options.progress) options.progress(total, total);
  return results;
}

}  // namespace upsweep::lab

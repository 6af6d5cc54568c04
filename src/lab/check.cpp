#include "lab/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "files/interrupt.h"
#include "lab/default_rung.h"
#include "lab/few_elements.h"
#include "lab/rng.h"
#include "lab/sizes.h"
#include "lab/stage.h"
#include "lab/sums.h"

namespace upsweep::lab {

namespace {

// Sizes at which kernels break: 0, 1, and sizes around those of a warp, a usual block and the largest block; then
// primes and sizes around powers of two, some of which need more than one pass.
constexpr std::size_t edge_sizes[] = {0, 1, 2, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025};
constexpr std::size_t odd_sizes[] = {97,      1009,      4093,    10'007,        65'537,
                                     100'003, 1'000'003, 1 << 20, (1 << 20) + 1, (1 << 22) + 3};

// Returns the launch shapes of the sweep, the rung's default shape first.
std::vector<Tuning> shapes_of(Backend backend) {
  std::vector<Tuning> shapes(1);
  if (backend == Backend::cpu) {
    for (const unsigned threads : {1, 2, 3}) shapes.push_back({.threads = threads});
    return shapes;
  }
  // Small grids, because an emulator runs them quickly; mostly of an odd number of blocks, so that chunks are uneven.
  constexpr struct { unsigned block, grid; } small[] = {{32, 7}, {64, 1}, {128, 3}, {256, 2}, {512, 5}, {1024, 1}};
  for (const auto& [block, grid] : small) shapes.push_back({.block = block, .grid = grid});
  if (backend == Backend::cuda)
    for (const unsigned block : {32, 64, 128, 256, 512, 1024}) shapes.push_back({.block = block});
  return shapes;
}

// A size, and a grid to run it with, for rungs whose blocks have large tiles or rings. An emulator's usual check sizes
// are too short for these: a ring buffer in shared memory wraps only if a block's input is longer than the ring, and a
// block takes a second tile only if there are more tiles than blocks.
struct OwnSize {
  std::size_t n;
  unsigned grid;
};
std::vector<OwnSize> own_sizes(const Rung& rung, Type type) {
  const std::size_t element = size_of(type);
  std::vector<OwnSize> sizes;
  if (rung.ring_bytes) sizes.push_back({rung.ring_bytes / element / 4 * 5 + 3, 1});  // 5/4 of the ring
  if (rung.tile_bytes) sizes.push_back({5 * rung.tile_bytes / element - 3, 2});      // five tiles, the last one short
  return sizes;
}
// Maximum number of combinations that a rung runs at its own sizes: enough for all widths of values, or all operators.
constexpr std::size_t most_at_own_sizes = 4;

struct Combination {
  Type type;
  Operation operation;
  Settings settings;
  std::string input;
};

// Iterates over types x operations x parameters x inputs in rounds. A round visits every (type, operation, parameters)
// once, with one of its inputs, and the next round takes the next input. After one round per input, every combination
// has been visited.
class Combinations {
 public:
  // Keeps only the combinations that the rung takes.
  Combinations(const Primitive& primitive, const Rung& rung, const CheckOptions& options) {
    const auto all_types = options.types.empty() ? primitive.types() : options.types;
    const auto all = primitive.operations();
    const auto operations =
        options.operations.empty() ? std::vector<Operation>(all.begin(), all.end()) : options.operations;
    for (const Type type : all_types) {
      auto inputs = primitive.inputs(type);
      if (!options.inputs.empty())  // keep the requested inputs that this type has
        std::erase_if(inputs, [&](const std::string& name) {
          return std::find(options.inputs.begin(), options.inputs.end(), name) == options.inputs.end();
        });
      if (inputs.empty()) continue;
      for (const Operation operation : operations) {
        if (!rung.find(type, operation)) continue;
        const auto variants = options.settings ? std::vector{*options.settings} : primitive.variants(primitive, type);
        for (const Settings& settings : variants) {
          if (!takes_sum(rung, {.settings = settings})) continue;
          // Settings that the user asked for are checked however long their arrays are.
          if (!options.settings && primitive.fixed_length && primitive.fixed_length(settings) > options.depth.largest)
            continue;
          lines_.push_back({type, operation, settings, inputs});
          count_ += inputs.size();
        }
      }
    }
  }
  std::size_t count() const { return count_; }
  std::vector<Combination> every() const {
    std::vector<Combination> all;
    for (const Line& line : lines_)
      for (const std::string& input : line.inputs) all.push_back({line.type, line.operation, line.settings, input});
    return all;
  }
  // Returns the lines of the widest type, whose inputs have the fewest elements per byte, each with one input.
  // Neighbouring lines differ in one setting only, so they are taken with halving strides: the first few then span the
  // whole list.
  std::vector<Combination> widest() const {
    std::vector<Combination> lot;
    for (const Line& line : lines_) {
      if (!lot.empty() && size_of(line.type) < size_of(lot.front().type)) continue;
      if (!lot.empty() && size_of(line.type) > size_of(lot.front().type)) lot.clear();
      lot.push_back({line.type, line.operation, line.settings, line.inputs[lot.size() % line.inputs.size()]});
    }
    std::vector<Combination> spread;
    for (std::size_t step = std::bit_ceil(lot.size()); step > 0; step /= 2)
      for (std::size_t k = 0; k < lot.size(); k += step)
        if (spread.empty() || k % (2 * step) != 0) spread.push_back(lot[k]);
    return spread;
  }
  std::vector<Combination> next(std::size_t how_many) {
    std::vector<Combination> lot;
    for (; how_many > 0 && !lines_.empty(); --how_many, ++at_) {
      const std::size_t index = at_ % lines_.size(), round = at_ / lines_.size();
      const Line& line = lines_[index];
      // Each line starts at a different input, so that even a short walk covers every input early.
      lot.push_back({line.type, line.operation, line.settings, line.inputs[(round + index) % line.inputs.size()]});
    }
    return lot;
  }

 private:
  struct Line {
    Type type;
    Operation operation;
    Settings settings;
    std::vector<std::string> inputs;
  };
  std::vector<Line> lines_;
  std::size_t count_ = 0, at_ = 0;
};

const char* alignment_text(Layout::Shift shift) {
  return shift == Layout::Shift::none    ? ""
         : shift == Layout::Shift::alike ? " misaligned"
         : shift == Layout::Shift::apart ? " misaligned apart"
                                         : " misaligned but for the first input";
}

// RAII: switches off an emulator's counters, which take a third of its time.
class WithoutCounters {
 public:
  explicit WithoutCounters(simt::Emulator* emulator) : emulator_(emulator) {
    if (!emulator) return;
    before_ = emulator->options();
    simt::Options options = before_;
    options.counters = false;
    emulator->configure(options);
  }
  WithoutCounters(const WithoutCounters&) = delete;
  WithoutCounters& operator=(const WithoutCounters&) = delete;
  ~WithoutCounters() {
    if (emulator_) emulator_->configure(before_);
  }

 private:
  simt::Emulator* emulator_;
  simt::Options before_;
};

// Runs one case twice in one launch shape with the same scratch. Returns nullopt if both results are right, or if the
// case is skipped because the rung rejects it. A shape that the user asked for is tried alone. Any other is replaced,
// if the rung rejects it, by the rung's own block size with as many blocks, and then by the rung's default shape. The
// default rung must take every call, so it fails if it rejects one.
std::optional<std::string> try_case(Stage& stage, simt::Emulator* emulator, const Rung& rung, RunFn run, Tuning& shape,
                                    bool asked_for, std::size_t& runs) {
  std::optional<std::string> wrong;
  try {
    for (int turn = 0; turn < 2 && !wrong; ++turn) {
      Status status = stage.run(run, shape);
      const auto is_rejected = [&] {
        return (status.code == Code::unsupported || status.code == Code::invalid_argument) && shape != Tuning{};
      };
      if (is_rejected() && asked_for) break;
      for (const Tuning& other : {Tuning{.grid = shape.grid}, Tuning{}})
        if (is_rejected() && shape != other) {
          shape = other;
          status = stage.run(run, shape);
        }
      if (status.code == Code::unsupported && !is_default(rung)) break;
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

std::string platform_name(const Platform& platform, const simt::Emulator* emulator,
                          std::optional<Thresholds> thresholds) {
  std::string name(to_string(platform.backend()));
  if (emulator && emulator->instrumented()) name += " traced";
  if (const auto device = platform.machine().name; emulator && device != "h200") name.append(" ").append(device);
  if (thresholds && *thresholds != default_thresholds(emulator))
    name.append(" with ").append(to_string(*thresholds)).append(" thresholds");
  return name;
}

std::string describe(const Case& c) {
  std::string text(to_string(c.type));
  if (c.operation) text += fmt::format(" {}", c.operation.name());
  text += fmt::format(" n={} input={}", size_text(c.n), c.input);
  for (const auto& [name, value] : texts_of(c.settings, c.tuning)) text += fmt::format(" {}={}", name, value);
  return text;
}

std::vector<std::size_t> check_sizes(const Primitive& primitive, const Depth& depth) {
  std::set<std::size_t> sizes(std::begin(edge_sizes), std::end(edge_sizes));
  sizes.insert(std::begin(odd_sizes), std::end(odd_sizes));
  for (const std::size_t tile : primitive.tiles) sizes.insert({tile - 1, tile, tile + 1});
  sizes.erase(sizes.upper_bound(std::min(depth.largest, primitive.largest_checked)), sizes.end());
  return {sizes.begin(), sizes.end()};
}

std::vector<std::size_t> usual_sizes_of(const Primitive& primitive) {
  std::vector<std::size_t> sizes;
  for (const std::size_t n : usual_sizes) sizes.push_back(std::min(n, primitive.largest_checked));
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

namespace {

constexpr std::size_t largest_random = std::size_t{1} << 17;
// Random streams derived from the seed of a check.
constexpr std::uint64_t stream_of_sizes = 0x73697a6573, stream_of_order = 0x6f72646572, stream_of_cases = 0x6361736573;

// Returns null if the case cannot exist for its type and operation, such as 1001 distinct edges of u8.
std::unique_ptr<Problem> problem_of(const Primitive& primitive, const Case& c) {
  try {
    return primitive.make(c, {});
  } catch (const Error& error) {
    if (error.code() != Code::unsupported) throw;
    return nullptr;
  }
}

double unit(std::uint64_t word) { return static_cast<double>(word >> 11) * 0x1p-53; }

}  // namespace

// Stratified sampling: each size is drawn from its own slice of the logarithmic range, so that no range is missed by
// chance.
std::vector<std::size_t> random_sizes(const Primitive& primitive, const Depth& depth, std::uint64_t seed) {
  const Random random(seed, stream_of_sizes);
  const double most =
      std::log2(static_cast<double>(std::min({depth.largest, primitive.largest_checked, largest_random})));
  std::vector<std::size_t> sizes;
  for (std::size_t k = 0; k < depth.random_sizes; ++k)
    sizes.push_back(static_cast<std::size_t>(
        std::exp2((static_cast<double>(k) + unit(random(k))) / static_cast<double>(depth.random_sizes) * most)));
  return sizes;
}

std::vector<DrawnCase> draw_cases(const Primitive& primitive, const std::vector<const Rung*>& rungs,
                                  const CheckOptions& options, std::size_t count) {
  const Random random(options.seed, stream_of_cases);
  std::uint64_t next = 0;
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(scale(random(next++), n)); };
  std::vector<std::size_t> sizes = options.sizes;
  if (sizes.empty()) {
    Depth depth = options.depth;
    depth.random_sizes = count;
    sizes = random_sizes(primitive, depth, options.seed);
  }
  std::vector<DrawnCase> drawn;
  for (std::size_t k = 0; k < count && !rungs.empty() && !sizes.empty(); ++k) {
    const Rung& rung = *rungs[below(rungs.size())];
    const std::size_t n = sizes[k % sizes.size()];
    const std::vector<Combination> all = Combinations(primitive, rung, options).every();
    if (all.empty()) continue;
    const Combination& one = all[below(all.size())];
    if (!rung.find_for(one.type, one.operation, n)) continue;
    const Case c{.type = one.type,
                 .operation = one.operation,
                 .n = n,
                 .input = one.input,
                 .settings = one.settings,
                 .tuning = options.tuning};
    if (problem_of(primitive, c)) drawn.push_back({&rung, c});
  }
  return drawn;
}

namespace {

// One size of a check, and the number of combinations that run at this size.
struct Step {
  std::size_t n, combinations;
  bool every = false;
};

// Returns fixed and random sizes in ascending order, so that no size benefits from state that a larger call left
// behind; then a quarter as many of the random sizes in random order, so that a call may follow calls of any size.
std::vector<Step> steps_of(const Primitive& primitive, const CheckOptions& options, std::size_t combinations) {
  const Depth& depth = options.depth;
  std::vector<Step> steps;
  for (const std::size_t n : options.sizes.empty() ? check_sizes(primitive, depth) : options.sizes) {
    const std::size_t most = std::max<std::size_t>(depth.elements_of_size / std::max<std::size_t>(n, 1), 1);
    const bool every = n <= depth.every_combination_to;
    steps.push_back({n, every ? combinations : std::min({depth.combinations, combinations, most}), every});
  }
  if (!options.sizes.empty()) return steps;
  std::vector<Step> random;
  for (const std::size_t n : random_sizes(primitive, depth, options.seed))
    random.push_back({n, std::min(depth.random_combinations, combinations)});
  steps.insert(steps.end(), random.begin(), random.end());
  std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.n < b.n; });
  const Random order(options.seed, stream_of_order);
  for (std::size_t k = 0; k < random.size() / 4; ++k)
    steps.push_back(random[static_cast<std::size_t>(scale(order(k), random.size()))]);
  return steps;
}

// Checks rungs that take the same types, operations and sums.
std::vector<RungCheck> check_alike(Platform& platform, simt::Emulator* emulator, const Primitive& primitive,
                                   const std::vector<const Rung*>& rungs, const CheckOptions& options) {
  const bool traced = emulator && emulator->instrumented();
  std::optional<FewElements> few;
  const Thresholds thresholds = options.thresholds.value_or(default_thresholds(emulator));
  if (thresholds == Thresholds::few) few.emplace(platform, &primitive.contract);
  const std::string where = platform_name(platform, emulator, thresholds);
  std::vector<RungCheck> results;
  for (const Rung* rung : rungs) results.push_back({.rung = rung, .platform = where, .thresholds = thresholds});

  const auto shapes =
      options.tuning == Tuning{} ? shapes_of(platform.backend()) : std::vector<Tuning>(2, options.tuning);
  Combinations combinations(primitive, *rungs.front(), options);
  const std::vector<Step> steps = steps_of(primitive, options, combinations.count());
  std::size_t total = 0, done = 0;
  for (const Step& step : steps) total += step.combinations;

  // One stage per kind of memory that the rungs' arrays are in.
  std::map<MemoryKind, Stage> stages;
  for (const Rung* rung : rungs) stages.try_emplace(rung->arrays, platform, rung->arrays);
  // The traced emulator checks allocation bounds itself, for reads too.
  const std::size_t guard = traced ? 0 : 256;
  if (emulator) emulator->take_report();
  const auto try_rung = [&](RungCheck& result, RunFn run, const Problem& problem, const Case& c, Tuning shape,
                            Layout::Shift shift) {
    Stage& stage = stages.at(result.rung->arrays);
    auto wrong = try_case(stage, emulator, *result.rung, run, shape, options.tuning != Tuning{}, result.runs);
    if (!wrong) return;
    Case shown = c;
    shown.tuning = shape;
    result.failures.push_back(fmt::format("{}/{} {} {}{}: {}", result.rung->primitive, result.rung->name, where,
                                          describe(shown), alignment_text(shift), *wrong));
    // The rung may have overwritten inputs or left counters nonzero, so the next rung starts from a fresh state.
    stage.load(primitive, problem, c, {.guard_bytes = guard, .shift = shift});
    stage.renew_workspace();
  };
  for (const Step& step : steps) {
    const std::size_t n = step.n;
    for (const Combination& combination : step.every ? combinations.every() : combinations.next(step.combinations)) {
      throw_if_interrupted();
      if (options.progress) options.progress(done, total);
      const Case c{.type = combination.type,
                   .operation = combination.operation,
                   .n = n,
                   .input = combination.input,
                   .settings = combination.settings};
      const std::unique_ptr<Problem> problem = problem_of(primitive, c);
      if (!problem) {
        ++done;
        continue;
      }
      // First the rung's default shape, if it is due, with aligned arrays; then another shape, in which three of five
      // problems have misaligned arrays: all alike, all differently, or all differently except for an aligned first
      // input.
      for (const bool own_shape : {true, false}) {
        if (own_shape && done % options.depth.own_shape_every != 0) continue;
        const Tuning& shape = own_shape ? shapes[0] : shapes[1 + done % (shapes.size() - 1)];
        // The alignment changes only after all shapes have been used, so every shape is combined with every alignment.
        using Shift = Layout::Shift;
        constexpr Shift shifts[] = {Shift::alike, Shift::none, Shift::apart, Shift::none, Shift::others};
        const Shift shift = own_shape ? Shift::none : shifts[done / (shapes.size() - 1) % std::size(shifts)];
        std::set<MemoryKind> loaded;
        for (RungCheck& result : results) {
          if (result.failures.size() >= options.most_failures) continue;
          const RunFn run = result.rung->find_for(c.type, c.operation, n);
          const std::size_t most = emulator ? result.rung->largest_emulated : 0;
          if (!run || (most != 0 && n > most)) continue;
          Stage& stage = stages.at(result.rung->arrays);
          if (loaded.insert(result.rung->arrays).second)
            stage.load(primitive, *problem, c, {.guard_bytes = guard, .shift = shift});
          try_rung(result, run, *problem, c, shape, shift);
        }
      }
      ++done;
    }
  }
  if (emulator && options.sizes.empty() && options.tuning == Tuning{})
    for (RungCheck& result : results) {
      std::size_t taken = 0;
      for (const Combination& combination : combinations.widest()) {
        if (taken == most_at_own_sizes) break;
        const std::size_t runs = result.runs;
        for (const auto [n, grid] : own_sizes(*result.rung, combination.type)) {
          throw_if_interrupted();
          const Case c{.type = combination.type,
                       .operation = combination.operation,
                       .n = n,
                       .input = combination.input,
                       .settings = combination.settings};
          const RunFn run = result.rung->find_for(c.type, c.operation, c.n);
          if (!run || result.failures.size() >= options.most_failures) continue;
          const std::unique_ptr<Problem> problem = problem_of(primitive, c);
          if (!problem) continue;
          // The copy engine fills a ring with whole 16-byte packs; at the ends of misaligned arrays, threads fill in
          // the rest.
          for (const Layout::Shift shift : {Layout::Shift::none, Layout::Shift::alike}) {
            stages.at(result.rung->arrays).load(primitive, *problem, c, {.guard_bytes = guard, .shift = shift});
            try_rung(result, run, *problem, c, {.grid = grid}, shift);
          }
        }
        taken += result.runs > runs;
      }
    }
  if (options.progress) options.progress(total, total);
  return results;
}

}  // namespace

std::vector<RungCheck> check(Platform& platform, simt::Emulator* emulator, const Primitive& primitive,
                             const std::vector<const Rung*>& rungs, const CheckOptions& options) {
  // Rungs that take the same (type, operation) pairs and the same kinds of sums are checked together, on the same
  // problems. In a single walk over the pairs of all rungs, a rung that takes only a few pairs, as most on the
  // emulators do, would sit out most problems.
  std::map<std::vector<bool>, std::vector<const Rung*>> groups;
  for (const Rung* rung : rungs) {
    std::vector<bool> takes;
    for (const Type type : primitive.types())
      for (const Operation& operation : primitive.operations()) takes.push_back(rung->find(type, operation) != nullptr);
    takes.insert(takes.end(), {rung->takes_initial, rung->takes_wider_output, rung->takes_segments});
    groups[takes].push_back(rung);
  }
  const WithoutCounters faster(emulator);
  std::map<const Rung*, RungCheck> checked;
  for (const auto& [takes, group] : groups)
    for (RungCheck& result : check_alike(platform, emulator, primitive, group, options))
      checked[result.rung] = std::move(result);
  std::vector<RungCheck> results;
  for (const Rung* rung : rungs) results.push_back(std::move(checked.at(rung)));
  return results;
}

}  // namespace upsweep::lab

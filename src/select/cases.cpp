// What the lab has to know of select.
#include "base/inputs.h"
#include "base/primitive.h"
#include "select/contract.h"
#include "select/oracle.h"
#include "select/stream.h"

namespace upsweep {
namespace {

namespace select = ladders::select;

// How much is selected: parameters of the case, which no rung looks at.
//   share       about this share of the elements (of find_repeats: of them, those that repeat); as the input has it
//               when not given; of flags, half
//   run_length  of unique and run_length_encode: about this mean length of runs of equal elements
class SelectProblem final : public Problem {
 public:
  SelectProblem(const Case& c, std::span<const std::byte> data) : case_(c), values_(main_input(c, data)) {
    const bool by_value = c.op != Op::select_flagged, runs = c.op == Op::unique || c.op == Op::run_length_encode;
    const double share = c.params.get("share", -1), run_length = c.params.get("run_length", -1);
    if (data.empty() && by_value && !runs && share >= 0)
      select::plant_share(c.type, c.op, share, c.seed, c.n, values_.get());
    if (data.empty() && runs && run_length >= 1) select::plant_runs(c.type, run_length, c.seed, c.n, values_.get());
    if (!by_value) {
      flags_ = std::make_unique_for_overwrite<std::uint8_t[]>(c.n);
      select::make_flags(share >= 0 ? share : 0.5, c.seed, c.n, flags_.get());
    }
  }
  std::vector<Array> inputs() const override {
    std::vector<Array> all{{case_.type, case_.n, values_.get()}};
    if (flags_) all.push_back({Type::u8, case_.n, flags_.get()});
    return all;
  }
  std::vector<OutputSpec> outputs() const override {
    const Type position = select::position_type(case_.n);
    std::vector<OutputSpec> all{{case_.op == Op::find_repeats ? position : case_.type, case_.n}, {Type::u64, 1}};
    if (case_.op == Op::run_length_encode) all.push_back({position, case_.n});
    return all;
  }
  // Every element once and what is selected once; with flags, the flags and only what they select.
  Traffic traffic(const Rung&) const override {
    const std::size_t element = size_of(case_.type), position = size_of(select::position_type(case_.n));
    if (!count_) count_ = select::count_selected(problem());
    const std::size_t count = *count_;
    const std::size_t read = case_.op == Op::select_flagged ? case_.n + count * element : case_.n * element;
    const std::size_t written = case_.op == Op::find_repeats        ? count * position
                                : case_.op == Op::run_length_encode ? count * (element + position)
                                : case_.op == Op::partition_if      ? case_.n * element
                                                                    : count * element;
    // Writes turn the memory around: from one byte in five on, a copy is the fairer ceiling.
    return {read + written, 4 * written < read ? "read" : "copy"};
  }
  std::optional<std::string> verify(const Rung&, std::span<const void* const> outputs) const override {
    return select::find_mistake(problem(), outputs.data(), poison);
  }

 private:
  select::Problem problem() const { return {case_.type, case_.op, case_.n, values_.get(), flags_.get(), case_.params}; }
  Case case_;
  std::unique_ptr<std::byte[]> values_;
  std::unique_ptr<std::uint8_t[]> flags_;
  mutable std::optional<std::size_t> count_;  // once asked for
};

}  // namespace

extern const Primitive select_primitive{
    .name = "select",
    .contract = "out[0] = what the operation selects of in[0], in order; out[1] = how many; out[2] = lengths of runs",
    .types = &all_types,
    .ops =
        [] {
          return std::vector{Op::find_repeats, Op::select_if,         Op::select_flagged,
                             Op::unique,       Op::run_length_encode, Op::partition_if};
        },
    .inputs =
        [](Type type) {
          std::vector<std::string> names{"uniform", "constant", "two_valued", "sorted", "zipf"};
          if (is_float(type)) names.insert(names.end(), {"nan", "signed_zeros", "denormals"});
          return names;
        },
    // As the inputs have it; few; all, and runs longer than a tile.
    .variants =
        [] {
          std::vector<Params> variants(3);
          variants[1].set("share", 1.0 / 16), variants[1].set("run_length", 3);
          variants[2].set("share", 1), variants[2].set("run_length", 5000);
          return variants;
        },
    .params =
        [] {
          return std::vector<Parameter>{{"share"}, {"run_length"}, {"below", true}};
        },
    // Around tiles of powers of two.
    .sizes =
        [](const Rung& rung) {
          return sizes_around({64, 128, 512, 2048, 4096, 8192, 16384}, rung);
        },
    .make = [](const Case& c, std::span<const std::byte> data) -> std::unique_ptr<Problem> {
      return std::make_unique<SelectProblem>(c, data);
    },
    .default_rung_cpu = "parallel",
    .default_rung_gpu = "pipeline",
    .stream = &ladders::select::stream,
};

}  // namespace upsweep

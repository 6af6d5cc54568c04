// The laboratory's cases of select: inputs, parameters, verification, traffic.
#include "lab/planted.h"
#include "lab/primitive.h"
#include "ladders/select/binding.h"
#include "ladders/select/lab/oracle.h"
#include "ladders/select/lab/probes.h"

namespace upsweep {

extern const Contract select_contract;

namespace ladders::select {

std::unique_ptr<Streamer> stream(Platform&, const Rung&, const Case&);  // stream.cpp

namespace {

// Parameters of the case decide how much is selected; no rung reads them:
//   share       the approximate fraction selected (for find_repeats: of elements that repeat; for nonzero: of elements
//               that are not 0); by default, whatever the input gives, and half of the flags
//   run_length  the approximate mean length of runs of equal elements, for unique and run_length_encode
class SelectProblem final : public Problem {
 public:
  SelectProblem(const Primitive& primitive, const Case& c, std::span<const std::byte> data)
      : Problem(primitive, c, data) {
    const Scalar *const share = c.settings.find("share"), *const run_length = c.settings.find("run_length");
    if (data.empty() && does_.predicate && share)
      plant_below_middle(c.type, share->as<double>(), c.seed, c.n, values());
    if (data.empty() && selection_ == Selection::nonzero && share)
      plant_nonzero(c.type, share->as<double>(), c.seed, c.n, values());
    if (data.empty() && selection_ == Selection::find_repeats && share)
      plant_runs(c.type, share->as<double>() < 1 ? 1 / (1 - share->as<double>()) : 0x1p63, c.seed, c.n, values());
    if (data.empty() && does_.starts_runs && run_length)
      plant_runs(c.type, run_length->as<double>(), c.seed, c.n, values());
    if (does_.flags) {
      flags_ = std::make_unique_for_overwrite<std::uint8_t[]>(c.n);
      make_flags(share ? share->as<double>() : 0.5, c.seed, c.n, flags_.get());
    }
  }
  std::vector<Array> inputs() const override {
    std::vector<Array> all{input_array(case_.type, case_.n, values())};
    if (flags_) all.push_back(input_array(Type::u8, case_.n, flags_.get()));
    return all;
  }
  void choose_outputs(Call& call) const override { call.out[0].type = call.out[2].type = index_type_of(case_); }
  // Returns the minimum traffic: every element read once, or the flags and only the selected elements; the selection
  // written.
  Traffic traffic(const Rung&) const override {
    if (!count_) count_ = count_selected(host_call());
    const std::size_t element = size_of(case_.type), count = *count_;
    const std::size_t read = does_.flags ? case_.n + count * element : case_.n * element;
    const std::size_t values_written = does_.rest ? case_.n : does_.values ? count : 0;
    const std::size_t position = size_of(outputs()[does_.lengths ? 2 : 0].type);
    const std::size_t positions = does_.positions || does_.lengths ? count : 0;
    const std::size_t written = values_written * element + positions * position;
    // Memory is slower when reads and writes alternate, so a copy is the fairer ceiling if at least a fifth of the
    // bytes are written.
    return {read + written, 4 * written < read ? "read" : "copy"};
  }
  std::optional<std::string> verify(const Rung&, std::span<const void* const> outputs) const override {
    return find_mistake(host_call(outputs), poison);
  }

 private:
  const Selection selection_ = case_.operation.as<Selection>();
  const Traits does_ = traits(selection_);
  std::unique_ptr<std::uint8_t[]> flags_;
  mutable std::optional<std::size_t> count_;  // computed on first use
};

constexpr Parameter shapes[] = {{.name = "share",
                                 .kind = Parameter::Kind::real,
                                 .meaning = "fraction of the elements that are selected",
                                 .most = 1,
                                 .initial_in_words = "as in the input, and half of the flags"},
                                {.name = "run_length",
                                 .kind = Parameter::Kind::real,
                                 .meaning = "mean length of runs of equal elements",
                                 .least = 1,
                                 .initial_in_words = "as in the input"},
                                index_type_shape};

}  // namespace
}  // namespace ladders::select

extern const Primitive select_primitive{
    .contract = select_contract,
    .inputs =
        [](Type type) {
          std::vector<std::string> names{"uniform", "constant", "two_valued", "sorted", "zipf"};
          if (is_float(type)) names.insert(names.end(), {"nan", "signed_zeros", "denormals"});
          return names;
        },
    .shapes = ladders::select::shapes,
    // The share that the input gives, with several index types; a small share; all elements, with runs longer than a
    // tile.
    .variants =
        [](const Primitive& p, Type type) {
          return std::vector<Settings>{
              {},
              p.settings(type, {{"index_type", "i32"}}),
              p.settings(type, {{"index_type", "i64"}}),
              p.settings(type, {{"share", "0.0625"}, {"run_length", "3"}}),
              p.settings(type, {{"share", "1"}, {"run_length", "5000"}, {"index_type", "u64"}})};
        },
    .probes = ladders::select::probes,
    .problem = &make_problem<ladders::select::SelectProblem>,
    .stream = &ladders::select::stream,
};

}  // namespace upsweep

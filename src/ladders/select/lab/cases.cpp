// What the lab has to know of select.
#include "lab/inputs.h"
#include "lab/primitive.h"
#include "ladders/select/contract.h"
#include "ladders/select/lab/oracle.h"
#include "ladders/select/lab/stream.h"

namespace upsweep {

extern const Contract select_contract;
extern const Primitive select_primitive;

namespace {

namespace select = ladders::select;

// How much is selected: parameters of the case, which no rung looks at.
//   share       about this share of the elements (of find_repeats: of them, those that repeat); as the input has it
//               when not given; of flags, half
//   run_length  of unique and run_length_encode: about this mean length of runs of equal elements
class SelectProblem final : public Problem {
 public:
  SelectProblem(const Case& c, std::span<const std::byte> data) : case_(c), values_(main_input(c, data)) {
    const Scalar *const share = c.settings.find("share"), *const run_length = c.settings.find("run_length");
    if (data.empty() && (does_.predicate || does_.positions) && share)
      select::plant_share(c.type, selection_, share->as<double>(), c.seed, c.n, values_.get());
    if (data.empty() && does_.starts_runs && run_length)
      select::plant_runs(c.type, run_length->as<double>(), c.seed, c.n, values_.get());
    if (does_.flags) {
      flags_ = std::make_unique_for_overwrite<std::uint8_t[]>(c.n);
      select::make_flags(share ? share->as<double>() : 0.5, c.seed, c.n, flags_.get());
    }
  }
  std::vector<Array> inputs() const override {
    std::vector<Array> all{input_array(case_.type, case_.n, values_.get())};
    if (flags_) all.push_back(input_array(Type::u8, case_.n, flags_.get()));
    return all;
  }
  std::vector<Array> outputs() const override {
    const Type position = select::position_type(case_.n);
    std::vector<Array> all{{does_.positions ? position : case_.type, case_.n}, {Type::u64, 1}};
    if (does_.lengths) all.push_back({position, case_.n});
    return all;
  }
  // Every element once and what is selected once; with flags, the flags and only what they select.
  Traffic traffic(const Rung&) const override {
    const std::size_t element = size_of(case_.type), position = size_of(select::position_type(case_.n));
    if (!count_) count_ = select::count_selected(problem());
    const std::size_t count = *count_;
    const std::size_t read = does_.flags ? case_.n + count * element : case_.n * element;
    const std::size_t written = (does_.rest     ? case_.n
                                 : does_.values ? count
                                                : 0) *
                                    element +
                                (does_.positions || does_.lengths ? count : 0) * position;
    // Writes turn the memory around: from one byte in five on, a copy is the fairer ceiling.
    return {read + written, 4 * written < read ? "read" : "copy"};
  }
  std::optional<std::string> verify(const Rung&, std::span<const void* const> outputs) const override {
    return select::find_mistake(problem(), outputs.data(), poison);
  }

 private:
  select::Problem problem() const {
    return {case_.type, selection_, case_.n, values_.get(), flags_.get(), call_of(select_primitive, case_).scalars[0]};
  }
  Case case_;
  Selection selection_ = case_.operation.as<Selection>();
  select::Traits does_ = select::traits(selection_);
  std::unique_ptr<std::byte[]> values_;
  std::unique_ptr<std::uint8_t[]> flags_;
  mutable std::optional<std::size_t> count_;  // once asked for
};

constexpr Parameter shapes[] = {
    {.name = "share", .kind = Parameter::Kind::real, .meaning = "of the elements that are selected", .most = 1},
    {.name = "run_length",
     .kind = Parameter::Kind::real,
     .meaning = "mean length of runs of equal elements",
     .least = 1}};

// The limit that about half of a uniform input is below: 0 where there are negative numbers.
Scalar middle_of_range(std::string_view, Type type) {
  return visit(type, []<class T>(TypeTag<T>) -> Scalar {
    if constexpr (std::is_unsigned_v<T>)
      return static_cast<T>(T{1} << (8 * sizeof(T) - 1));
    else
      return T{0};
  });
}

}  // namespace

extern const Primitive select_primitive{
    .contract = select_contract,
    .types = &all_types,
    .inputs =
        [](Type type) {
          std::vector<std::string> names{"uniform", "constant", "two_valued", "sorted", "zipf"};
          if (is_float(type)) names.insert(names.end(), {"nan", "signed_zeros", "denormals"});
          return names;
        },
    .default_scalar = &middle_of_range,
    .shapes = shapes,
    // As the inputs have it; few; all, and runs longer than a tile.
    .variants =
        [](const Primitive& p, Type type) {
          return std::vector<Settings>{{},
                                       p.settings(type, {{"share", "0.0625"}, {"run_length", "3"}}),
                                       p.settings(type, {{"share", "1"}, {"run_length", "5000"}})};
        },
    // Around tiles of powers of two.
    .sizes =
        [](const Rung& rung) {
          return sizes_around({64, 128, 512, 2048, 4096, 8192, 16384}, rung);
        },
    .make = [](const Case& c, std::span<const std::byte> data) -> std::unique_ptr<Problem> {
      return std::make_unique<SelectProblem>(c, data);
    },
    .stream = &ladders::select::stream,
};

}  // namespace upsweep

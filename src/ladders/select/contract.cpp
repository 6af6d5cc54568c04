#include "base/contract.h"

#include "ladders/select/binding.h"
#include "ladders/select/choose.h"

namespace upsweep {
namespace {

using namespace ladders::select;

constexpr Operation operations[] = {Selection::find_repeats, Selection::select_if,         Selection::select_flagged,
                                    Selection::unique,       Selection::run_length_encode, Selection::partition_if};
constexpr InputRole inputs[] = {{"the input"}, {"the array of flags", Fit::custom}};
constexpr OutputRole outputs[] = {{.name = "the output", .fit = Fit::custom},
                                  {.name = "the count", .fit = Fit::custom},
                                  {.name = "the array of lengths", .fit = Fit::custom}};
constexpr int count_output = 1;
constexpr Parameter scalars[] = {
    {.name = "below",
     .kind = Parameter::Kind::element,
     .meaning = "the limit of select_if and partition_if (the middle of the type's range)"}};

void validate(const Call& c) {
  const std::string_view who = c.operation.name();
  const Traits does = traits(c.operation.as<Selection>());
  const Type position = position_type(c.n());
  constexpr const char* hint = "positions and lengths are u32 for less than 2^32 elements, u64 for more";
  if (does.positions)
    require_array(who, "the array of positions", c.out[0], position, c.n(), hint);
  else
    require_array(who, "the output", c.out[0], c.type(), c.n());
  require_array(who, "the count", c.out[1], Type::u64, 1);
  if (does.lengths) require_array(who, "the array of lengths", c.out[2], position, c.n(), hint);
  if (does.flags) {
    require_type(who, "the array of flags", c.in[1].type, Type::u8);
    if (c.in[1].count != c.n())
      refuse(who, std::to_string(c.in[1].count) + " flags for " + std::to_string(c.n()) + " elements");
  }
}

std::size_t written(const Call& c, std::size_t k, std::uint64_t counted) {
  if (k == count_output) return 1;
  return traits(c.operation.as<Selection>()).rest ? c.n() : counted;
}

}  // namespace

extern const Contract select_contract{
    .name = "select",
    .promise = "out[0] = what the operation selects of in[0], in order; out[1] = how many; out[2] = lengths of runs",
    .operations = operations,
    .inputs = inputs,
    .outputs = outputs,
    .scalars = scalars,
    .reads_scalar = [](const Call& c, std::size_t) { return traits(c.operation.as<Selection>()).predicate; },
    .validate = &validate,
    .writes = &written,
    .count_output = count_output,
    .choose = &ladders::select::choose,
    .thresholds = ladders::select::thresholds};

}  // namespace upsweep

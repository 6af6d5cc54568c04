#include "base/contract.h"

#include "ladders/select/binding.h"
#include "ladders/select/choose.h"
#include "rung_tables.h"

namespace upsweep {
namespace {

using namespace ladders::select;

constexpr InputRole inputs[] = {{"the input"}, {"the array of flags", false}};

Traits does(const Call& c) { return traits(c.operation.as<Selection>()); }

std::size_t selected(const Call& c, std::uint64_t counted) { return does(c).rest ? c.n() : counted; }

constexpr OutputRole outputs[] = {
    {.name = "the output",
     .type = [](const Call& c) { return does(c).positions ? index_type(c.out[0].type, c.n()) : c.type(); },
     .count = &selected,
     .types = index_types,
     .join =
         [](const Call& c) {
           return does(c).positions ? Join::shifted : does(c).rest ? Join::merged : Join::in_sequence;
         }},
    {.name = "the count",
     .type = [](const Call&) { return Type::u64; },
     .count = [](const Call&, std::uint64_t) { return std::size_t{1}; },
     .join = [](const Call&) { return Join::by_addition; }},
    {.name = "the array of lengths",
     .type = [](const Call& c) { return index_type(c.out[2].type, c.n()); },
     .count = [](const Call& c, std::uint64_t counted) { return does(c).lengths ? selected(c, counted) : 0; },
     .types = index_types,
     .file = "lengths"}};
constexpr int count_output = 1;

// Returns the middle of the type's range: about half of a uniform input is below it.
Scalar middle_of_range(Type element, std::span<const Scalar>) {
  return visit(element, []<class T>(TypeTag<T>) -> Scalar {
    if constexpr (std::is_unsigned_v<T>)
      return static_cast<T>(T{1} << (8 * sizeof(T) - 1));
    else
      return T{0};
  });
}
constexpr Parameter scalars[] = {{.name = "below",
                                  .kind = Parameter::Kind::element,
                                  .meaning = "the limit of select_if and partition_if",
                                  .initial_for = &middle_of_range,
                                  .initial_in_words = "the middle of the type's range"}};

void validate(const Call& c) {
  if (!does(c).flags) return;
  require_type("select", "the array of flags", c.in[1].type, Type::u8);
  if (c.in[1].count != c.n())
    refuse("select", std::to_string(c.in[1].count) + " flags for " + std::to_string(c.n()) + " elements");
}

}  // namespace

extern const Contract select_contract{
    .name = "select",
    .promise = "out[0] = the elements selected from in[0], in order; out[1] = their number; out[2] = lengths of runs",
    .operations = operations,
    .inputs = inputs,
    .outputs = outputs,
    .rungs = &ladders::select::rungs,
    .scalars = scalars,
    .reads_scalar = [](const Call& c, std::size_t) { return does(c).predicate; },
    .validate = &validate,
    .carry = [](const Call& c) { return does(c).neighbour ? Carry::last_element : Carry::nothing; },
    .count_output = count_output,
    .choose = &ladders::select::choose,
    .thresholds = ladders::select::thresholds};

}  // namespace upsweep

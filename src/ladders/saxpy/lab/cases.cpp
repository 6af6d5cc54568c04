// What the lab has to know of saxpy.
#include "lab/inputs.h"
#include "lab/primitive.h"
#include "ladders/saxpy/contract.h"
#include "ladders/saxpy/lab/oracle.h"
#include "ladders/saxpy/lab/stream.h"

namespace upsweep {

extern const Contract saxpy_contract;
extern const Primitive saxpy_primitive;

namespace {

class SaxpyProblem final : public Problem {
 public:
  SaxpyProblem(const Case& c, std::span<const std::byte> data)
      : type_(c.type),
        n_(c.n),
        a_(call_of(saxpy_primitive, c).scalars[0]),
        in_place_(c.settings.get("inplace", false)),
        x_(main_input(c, data)),
        y_(main_input(second(c), {})) {}
  std::vector<Array> inputs() const override {
    return {input_array(type_, n_, x_.get()), input_array(type_, n_, y_.get())};
  }
  std::vector<Array> outputs() const override { return {{type_, n_, in_place_ ? y_.get() : nullptr}}; }
  Traffic traffic(const Rung& rung) const override {
    return {3 * n_ * size_of(type_), rung.from_host() ? "link" : "triad"};
  }
  std::optional<std::string> verify(const Rung&, std::span<const void* const> outputs) const override {
    return ladders::saxpy::find_mistake(type_, a_, x_.get(), y_.get(), outputs[0], n_);
  }

 private:
  // y is another draw of the same input.
  static Case second(Case c) {
    c.seed += 1;
    return c;
  }
  Type type_;
  std::size_t n_;
  Scalar a_;
  bool in_place_;
  std::unique_ptr<std::byte[]> x_, y_;
};

constexpr Parameter shapes[] = {
    {.name = "inplace", .kind = Parameter::Kind::flag, .meaning = "out is y, instead of an array of its own (false)"}};
constexpr std::string_view tuning[] = {"chunk", "streams"};

// As the element's type; integers take the whole part.
Scalar factor(Type type, double a) {
  return visit(type, [&]<class T>(TypeTag<T>) -> Scalar {
    if constexpr (std::is_floating_point_v<T>)
      return static_cast<T>(a);
    else
      return static_cast<T>(static_cast<std::int64_t>(a));
  });
}

}  // namespace

extern const Primitive saxpy_primitive{
    .contract = saxpy_contract,
    .types = &all_types,
    .inputs = &input_names,
    .default_scalar = [](std::string_view, Type type) { return factor(type, 2); },
    .shapes = shapes,
    .tuning = tuning,
    // A negative factor whose products round in every float type, and which wraps in unsigned ones.
    .variants =
        [](const Primitive& p, Type type) {
          std::vector<Settings> variants{{}, p.settings(type, {{"inplace", "true"}})};
          for (Settings& settings : variants) settings.set(*p.parameter("a"), factor(type, -2.7));
          return variants;
        },
    // Around packs of 16 bytes, blocks of them, and the CPU's sizes for one core.
    .sizes =
        [](const Rung& rung) {
          std::vector<std::size_t> all{15, 16, 17, 511, 512, 513, 2047, 2049, 4095, 16385};
          if (rung.backend != Backend::simt) all.push_back((1 << 20) + 1);
          return all;
        },
    .make = [](const Case& c, std::span<const std::byte> data) -> std::unique_ptr<Problem> {
      return std::make_unique<SaxpyProblem>(c, data);
    },
    .stream = &ladders::saxpy::stream,
};

}  // namespace upsweep

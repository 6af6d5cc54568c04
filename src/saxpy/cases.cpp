// What the lab has to know of saxpy.
#include "base/inputs.h"
#include "base/primitive.h"
#include "saxpy/contract.h"
#include "saxpy/oracle.h"
#include "saxpy/stream.h"

namespace upsweep {
namespace {

class SaxpyProblem final : public Problem {
 public:
  SaxpyProblem(const Case& c, std::span<const std::byte> data)
      : type_(c.type),
        n_(c.n),
        a_(c.params.get("a", ladders::saxpy::default_a)),
        in_place_(c.params.get("inplace", 0) != 0),
        x_(main_input(c, data)),
        y_(main_input(second(c), {})) {}
  std::vector<Array> inputs() const override { return {{type_, n_, x_.get()}, {type_, n_, y_.get()}}; }
  std::vector<OutputSpec> outputs() const override { return {{type_, n_, in_place_ ? 1 : OutputSpec::own_memory}}; }
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
  double a_;
  bool in_place_;
  std::unique_ptr<std::byte[]> x_, y_;
};

}  // namespace

extern const Primitive saxpy_primitive{
    .name = "saxpy",
    .contract = "out[i] = a * x[i] + y[i] (a=2 unless given); inplace=1: out is y",
    .types = &all_types,
    .ops = [] { return std::vector{Op::sum}; },
    .inputs = &input_names,
    // A negative factor whose products round in every float type, and whose whole part wraps in unsigned ones.
    .variants =
        [] {
          std::vector<Params> variants(2);
          for (Params& params : variants) params.set("a", -2.7);
          variants[1].set("inplace", 1);
          return variants;
        },
    .params =
        [] {
          return std::vector<Parameter>{{"a", true}, {"inplace"}, {"chunk"}, {"streams"}};
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
    .default_rung_cpu = "parallel",
    .default_rung_gpu = "one_pack",
    .stream = &ladders::saxpy::stream,
};

}  // namespace upsweep

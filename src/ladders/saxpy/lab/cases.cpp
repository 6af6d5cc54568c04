// The laboratory's cases of saxpy: inputs, parameters, verification, streaming.
#include "lab/primitive.h"
#include "lab/stream.h"
#include "ladders/saxpy/lab/oracle.h"

namespace upsweep {

extern const Contract saxpy_contract;

namespace ladders::saxpy {
namespace {

class SaxpyProblem final : public Problem {
 public:
  SaxpyProblem(const Primitive& primitive, const Case& c, std::span<const std::byte> data)
      : Problem(primitive, c, data), y_(main_input(second(c), {})) {}
  std::vector<Array> inputs() const override {
    return {input_array(case_.type, case_.n, values()), input_array(case_.type, case_.n, y_.get())};
  }
  void choose_outputs(Call& call) const override {
    if (shape<bool>("inplace")) call.out[0].data = y_.get();
  }
  std::string_view ceiling(const Rung& rung) const override { return rung.from_host() ? "link" : "triad"; }
  std::optional<std::string> verify(const Rung&, std::span<const void* const> outputs) const override {
    return find_mistake(case_.type, call_of(primitive_, case_).scalars[0], values(), y_.get(), outputs[0], case_.n);
  }

 private:
  // Returns the case that generates y: the distribution of x, with another seed.
  static Case second(Case c) {
    c.seed += 1;
    return c;
  }
  std::unique_ptr<std::byte[]> y_;
};

// The streamer. Chunks are processed one by one, because elements are independent.
class SaxpyStreamer final : public RungStreamer {
 public:
  using RungStreamer::RungStreamer;
  std::vector<Beside> other_inputs() const override { return {{"y", case_.type}}; }
  void feed(Chunks chunks, const Sink& sink) override {
    const std::size_t bytes = chunks[0].size(), n = bytes / size_of(case_.type);
    std::byte* const out = out_.grow(bytes);
    run({input_array(case_.type, n, reachable(chunks[0], x_)), input_array(case_.type, n, reachable(chunks[1], y_))},
        {Array{case_.type, n, out}});
    sink(fetch(out, bytes));
  }

 private:
  Room x_{*this}, y_{*this}, out_{*this};
};

constexpr Parameter shapes[] = {{.name = "inplace",
                                 .kind = Parameter::Kind::flag,
                                 .meaning = "out is y instead of a separate array",
                                 .initial = false}};
constexpr std::string_view tuning[] = {"chunk", "streams"};

// Converts a to the element's type, truncating for integers.
Scalar factor(Type type, double a) {
  return visit(type, [&]<class T>(TypeTag<T>) -> Scalar {
    return static_cast<T>(static_cast<std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>>(a));
  });
}

}  // namespace
}  // namespace ladders::saxpy

extern const Primitive saxpy_primitive{
    .contract = saxpy_contract,
    .shapes = ladders::saxpy::shapes,
    .tuning = ladders::saxpy::tuning,
    // With a = -2.7, products are inexact in every float type, and wrap in unsigned types.
    .variants =
        [](const Primitive& p, Type type) {
          std::vector<Settings> variants = every_choice(p, type);
          for (Settings& settings : variants) settings.set(*p.parameter("a"), ladders::saxpy::factor(type, -2.7));
          return variants;
        },
    .example = whole_grid,
    .problem = &make_problem<ladders::saxpy::SaxpyProblem>,
    .stream = &make_streamer<ladders::saxpy::SaxpyStreamer>,
};

}  // namespace upsweep

// What the lab has to know of scan.
#include "base/inputs.h"
#include "base/primitive.h"
#include "scan/oracle.h"
#include "scan/stream.h"

namespace upsweep {
namespace {

class ScanProblem final : public Problem {
 public:
  ScanProblem(const Case& c, std::span<const std::byte> data)
      : type_(c.type), op_(c.op), inclusive_(c.params.get("inclusive", 0) != 0), n_(c.n), in_(main_input(c, data)) {}
  std::vector<Array> inputs() const override { return {{type_, n_, in_.get()}}; }
  std::vector<OutputSpec> outputs() const override { return {{type_, n_}}; }
  Traffic traffic(const Rung&) const override { return {2 * n_ * size_of(type_), "copy"}; }
  std::optional<std::string> verify(const Rung&, std::span<const void* const> outputs) const override {
    return ladders::scan::find_mistake(type_, op_, inclusive_, in_.get(), outputs[0], n_);
  }

 private:
  Type type_;
  Op op_;
  bool inclusive_;
  std::size_t n_;
  std::unique_ptr<std::byte[]> in_;
};

}  // namespace

extern const Primitive scan_primitive{
    .name = "scan",
    .contract = "out[i] = in[0] op ... op in[i-1] (inclusive=1: ... op in[i]); the neutral element where that is empty",
    .types = &all_types,
    .ops =
        [] {
          return std::vector{Op::sum, Op::min, Op::max};
        },
    .inputs = &input_names,
    .variants =
        [] {
          std::vector<Params> variants(2);
          variants[1].set("inclusive", 1);
          return variants;
        },
    .params = [] { return std::vector<Parameter>{{"inclusive"}}; },
    // Around tiles of powers of two, of one and of several, and where their totals fill a tile again.
    .sizes =
        [](const Rung& rung) {
          return sizes_around({64, 128, 512, 2048, 4096, 8192, 16384}, rung);
        },
    .make = [](const Case& c, std::span<const std::byte> data) -> std::unique_ptr<Problem> {
      return std::make_unique<ScanProblem>(c, data);
    },
    .default_rung_cpu = "parallel",
    .default_rung_gpu = "pipeline",
    .stream = &ladders::scan::stream,
};

}  // namespace upsweep

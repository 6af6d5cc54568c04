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
    .types =
        [] {
          return std::vector{Type::i8,  Type::u8,  Type::i16, Type::u16, Type::i32,
                             Type::u32, Type::i64, Type::u64, Type::f32, Type::f64};
        },
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
    // Around tiles of powers of two, of one and of several, and where their totals fill a tile again.
    .sizes =
        [](const Rung& rung) {
          std::vector<std::size_t> all;
          for (const std::size_t tile : {64, 128, 512, 2048, 4096, 8192, 16384})
            for (const std::size_t n : {tile - 1, tile, tile + 1}) all.push_back(n);
          if (rung.backend != Backend::simt)
            for (const std::size_t n : {100003, (1 << 20) + 1}) all.push_back(n);
          return all;
        },
    .traffic = [](const Case& c, const Rung&) -> Traffic {
      return {2 * c.n * size_of(c.type), "copy"};
    },
    .make = [](const Case& c, std::span<const std::byte> data) -> std::unique_ptr<Problem> {
      return std::make_unique<ScanProblem>(c, data);
    },
    .default_rung_cpu = "parallel",
    .default_rung_gpu = "pipeline",
    .stream = &ladders::scan::stream,
};

}  // namespace upsweep

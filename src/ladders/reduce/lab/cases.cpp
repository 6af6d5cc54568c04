// What the lab has to know of reduce.
#include "lab/inputs.h"
#include "lab/primitive.h"
#include "ladders/reduce/lab/oracle.h"
#include "ladders/reduce/lab/stream.h"

namespace upsweep {

extern const Contract reduce_contract;

namespace {

class ReduceProblem final : public Problem {
 public:
  ReduceProblem(const Case& c, std::span<const std::byte> data) : type_(c.type), n_(c.n), in_(main_input(c, data)) {
    oracle_ = ladders::reduce::make_oracle(type_, c.operation.as<Op>(), in_.get(), n_);
  }
  std::vector<Array> inputs() const override { return {input_array(type_, n_, in_.get())}; }
  std::vector<Array> outputs() const override { return {{type_, 1}}; }
  Traffic traffic(const Rung&) const override { return {(n_ + 1) * size_of(type_), "read"}; }
  std::optional<std::string> verify(const Rung& rung, std::span<const void* const> outputs) const override {
    return oracle_->check(outputs[0], rung);
  }

 private:
  Type type_;
  std::size_t n_;
  std::unique_ptr<std::byte[]> in_;
  std::unique_ptr<ladders::reduce::Oracle> oracle_;
};

std::vector<std::size_t> sizes(const Rung& rung) {
  // Around the tiles of the kernels (powers of two from a warp's to a large block's) and of the CPU rungs' loops (64 to
  // 2048 elements), where the last element of a tile and the first of the next are handled by different code.
  std::vector<std::size_t> all = sizes_around({64, 128, 512, 2048, 4096, 8192, 16384}, rung);
  all.push_back(3 * 4096 + 5);
  return all;
}

}  // namespace

extern const Primitive reduce_primitive{
    .contract = reduce_contract,
    .types = [] { return std::vector{Type::i32, Type::u32, Type::i64, Type::u64, Type::f32, Type::f64}; },
    .inputs = &input_names,
    .sizes = &sizes,
    .make = [](const Case& c, std::span<const std::byte> data) -> std::unique_ptr<Problem> {
      return std::make_unique<ReduceProblem>(c, data);
    },
    .stream = &ladders::reduce::stream,
};

}  // namespace upsweep

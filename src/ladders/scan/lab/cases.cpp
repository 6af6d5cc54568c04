// What the lab has to know of scan.
#include "lab/inputs.h"
#include "lab/primitive.h"
#include "ladders/scan/lab/oracle.h"
#include "ladders/scan/lab/stream.h"

namespace upsweep {

extern const Contract scan_contract;

namespace {

class ScanProblem final : public Problem {
 public:
  ScanProblem(const Case& c, std::span<const std::byte> data)
      : type_(c.type),
        op_(c.operation.as<Op>()),
        inclusive_(c.settings.get("inclusive", false)),
        n_(c.n),
        in_(main_input(c, data)) {}
  std::vector<Array> inputs() const override { return {input_array(type_, n_, in_.get())}; }
  std::vector<Array> outputs() const override { return {{type_, n_}}; }
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
    .contract = scan_contract,
    .types = &all_types,
    .inputs = &input_names,
    .variants =
        [](const Primitive& p, Type type) {
          return std::vector<Settings>{{}, p.settings(type, {{"inclusive", "true"}})};
        },
    // Around tiles of powers of two, of one and of several, and where their totals fill a tile again.
    .sizes =
        [](const Rung& rung) {
          return sizes_around({64, 128, 512, 2048, 4096, 8192, 16384}, rung);
        },
    .make = [](const Case& c, std::span<const std::byte> data) -> std::unique_ptr<Problem> {
      return std::make_unique<ScanProblem>(c, data);
    },
    .stream = &ladders::scan::stream,
};

}  // namespace upsweep

// select/vec16 beyond 2^32 elements: its kernels with 64-bit offsets, on small inputs. select/pipeline with so many
// elements that its rings wrap around in every block.
#include "lab/check.h"
#include "launcher.h"

namespace upsweep {
namespace {

void expect_right(simt::Emulator& emulator, const lab::Depth& depth) {
  emulator.configure({});
  (void)emulator.take_report();
  std::vector<const Rung*> rungs;
  for (const char* name : {"wide", "far"}) rungs.push_back(find_rung(emulator.rungs(), "select", name));
  for (const lab::RungCheck& result :
       lab::check(emulator, &emulator, *find_primitive("select"), rungs, {.depth = depth})) {
    EXPECT_GT(result.runs, 500u) << result.rung->name;
    for (const std::string& failure : result.failures) ADD_FAILURE() << failure;
  }
}

TEST(SelectBeyond32Bits, Plain) { expect_right(test_plain_emulator(), lab::emulated_depth); }
TEST(SelectBeyond32Bits, Traced) { expect_right(test_traced_emulator(), lab::traced_depth); }

TEST(SelectPipeline, RingsWrapAround) {
  simt::Emulator& emulator = traced_emulator();
  emulator.configure({});
  const lab::CheckOptions options{
      .depth = {.every_combination_to = 0, .combinations = 8, .largest = 400'001, .own_shape_every = 2},
      .sizes = {150'001, 400'001}};
  for (const lab::RungCheck& result : lab::check(emulator, &emulator, *find_primitive("select"),
                                                 {find_rung(emulator.rungs(), "select", "pipeline")}, options))
    for (const std::string& failure : result.failures) ADD_FAILURE() << failure;
}

}  // namespace
}  // namespace upsweep

// select/vec16 beyond 2^32 elements: its kernels with 64-bit offsets, on small inputs.
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

}  // namespace
}  // namespace upsweep

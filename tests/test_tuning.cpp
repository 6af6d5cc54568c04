// Thresholds from a file, and the state that CPU calls learn.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "error_of.h"
#include "upsweep/device.h"
#include "upsweep/partition.h"
#include "upsweep/tuning.h"

namespace upsweep {
namespace {

class Tuned : public testing::Test {
 protected:
  Tuned() { EXPECT_TRUE(find_contract("sort")); }  // so that this program contains every ladder
  ~Tuned() override {
    reset_tuning();
    std::filesystem::remove(path_);
  }
  const std::string& file(const std::string& text) {
    std::ofstream(path_) << text;
    return path_;
  }
  static ThresholdInForce in_force(const std::string& name) {
    for (const ThresholdInForce& t : thresholds_in_force())
      if (t.name == name) return t;
    ADD_FAILURE() << name << " is no threshold";
    return {};
  }
  const std::string path_ = std::filesystem::temp_directory_path() / ("upsweep_tuning_" + std::to_string(getpid()));
};

TEST_F(Tuned, AFileSetsWhatItNames) {
  load_tuning(file("# of a machine\n\n  sort.most_enumerated = 4096  \r\nscan.most_for_wave=1\n"));
  EXPECT_EQ(in_force("sort.most_enumerated").value, 4096u);
  EXPECT_EQ(in_force("sort.most_enumerated").measured, 8192u);
  EXPECT_EQ(in_force("sort.most_enumerated").file, path_);
  EXPECT_EQ(in_force("scan.most_for_wave").value, 1u);
  EXPECT_EQ(in_force("sort.most_hybrid").file, "");
  load_tuning(file("sort.most_enumerated = 100"));
  EXPECT_EQ(in_force("sort.most_enumerated").value, 100u);
  EXPECT_EQ(in_force("scan.most_for_wave").value, 1u);
  reset_tuning();
  EXPECT_EQ(in_force("sort.most_enumerated").value, 8192u);
  EXPECT_EQ(in_force("scan.most_for_wave").value, in_force("scan.most_for_wave").measured);
}

TEST_F(Tuned, AWrongFileChangesNothing) {
  const auto expect_refused = [&](const std::string& text, const std::string& what, int line) {
    const Error error = error_of([&] { load_tuning(file(text)); });
    EXPECT_EQ(error.code(), Code::bad_file) << text;
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with(path_ + ":" + std::to_string(line) + ": ")) << message;
    EXPECT_NE(message.find(what), message.npos) << message;
    EXPECT_EQ(in_force("sort.most_enumerated").value, 8192u) << text;
  };
  expect_refused("sort.most_enumerated = 1\nsort.most_enumeratet = 1\n", "'sort.most_enumeratet'", 2);
  expect_refused("most_enumerated = 1", "'most_enumerated'", 1);
  expect_refused("\nsort.most_enumerated", "not a threshold and a value", 2);
  for (const char* number : {"", "x", "-1", "1e3", "0x10", "1 2", "18446744073709551616", "4096 # keys"})
    expect_refused("sort.most_enumerated = " + std::string(number), "not a whole number", 1);
  expect_refused("sort.most_enumerated = 1\nsort.most_enumerated = 2", "has a value already", 2);
  EXPECT_EQ(error_of([] { load_tuning("/nonexistent/tuning"); }).code(), Code::io_error);
  EXPECT_EQ(error_of([] { load_tuning("/tmp"); }).code(), Code::io_error);
}

TEST_F(Tuned, CallsLearnAndForget) {
  Device cpu = Device::cpu();
  std::vector<std::uint32_t> keys(1 << 15), out(keys.size());
  std::vector<std::uint32_t> offsets(257);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<std::uint32_t>(i * 2654435761u);
  for (int call = 0; call < 200; ++call) partition_by_digit(cpu, keys, {.first_bit = 24, .bits = 8}, out, offsets);
  const auto all = learnt();
  for (const Learnt& l : all) {
    EXPECT_EQ(l.calls, "partition: keys < 2^16, buckets < 2^9, bytes of a value < 2^0");
    EXPECT_GT(l.one_core_us + l.all_cores_us, 0);
  }
  EXPECT_EQ(all.size(), std::thread::hardware_concurrency() > 1 ? 1u : 0u);
  reset_tuning();
  EXPECT_TRUE(learnt().empty());
}

}  // namespace
}  // namespace upsweep

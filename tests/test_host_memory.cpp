// The memory that a process may use, according to /proc, its limits, and control groups v1 and v2.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "cpu/host_memory.h"

namespace upsweep {
namespace {

namespace fs = std::filesystem;

class HostMemory : public testing::Test {
 protected:
  HostMemory() {
    std::string pattern = (fs::temp_directory_path() / "upsweep_memory_XXXXXX").string();
    root_ = mkdtemp(pattern.data());
    write("proc/meminfo", "MemTotal:       8000 kB\nMemFree:        100 kB\nMemAvailable:   6000 kB\n");
  }
  ~HostMemory() override { fs::remove_all(root_); }
  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  void expect(std::size_t bytes, std::size_t available) const {
    const auto memory = detail::read_host_memory(root_.string());
    EXPECT_EQ(memory.bytes, bytes);
    EXPECT_EQ(memory.available, available);
  }
  fs::path root_;
};

TEST_F(HostMemory, OfTheMachine) {
  expect(8'192'000, 6'144'000);
  write("proc/self/cgroup", "0::/user\n");
  write("sys/fs/cgroup/user/memory.max", "max\n");
  write("sys/fs/cgroup/user/memory.current", "5000\n");
  expect(8'192'000, 6'144'000);
}

TEST_F(HostMemory, OfTheNarrowestGroupAround) {
  write("proc/self/cgroup", "0::/outer/inner\n");
  write("sys/fs/cgroup/outer/inner/memory.max", "max\n");
  write("sys/fs/cgroup/outer/memory.max", "1000000\n");
  write("sys/fs/cgroup/outer/memory.current", "400000\n");
  expect(1'000'000, 600'000);
  write("sys/fs/cgroup/outer/memory.stat", "anon 1\ninactive_file 100000\n");
  expect(1'000'000, 700'000);
  write("sys/fs/cgroup/memory.max", "500000\n");  // a container's limit: its control group is the mount's root
  write("sys/fs/cgroup/memory.current", "600000\n");
  expect(500'000, 0);
}

TEST_F(HostMemory, OfTheFirstVersion) {
  write("proc/self/cgroup", "8:pids:/\n4:cpu,memory:/batch/job\n0::/\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");  // no limit
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "7000000\n");
  write("sys/fs/cgroup/memory/batch/job/memory.limit_in_bytes", "2000000\n");
  write("sys/fs/cgroup/memory/batch/job/memory.usage_in_bytes", "1500000\n");
  write("sys/fs/cgroup/memory/batch/job/memory.stat", "inactive_file 5\ntotal_inactive_file 250000\n");
  expect(2'000'000, 750'000);
}

TEST_F(HostMemory, OfTheLimitsOfTheProcess) {
  const std::string limits = "Limit                     Soft Limit           Hard Limit           Units     \n";
  write("proc/self/limits", limits +
                                "Max data size             unlimited            unlimited            bytes     \n"
                                "Max address space         unlimited            9000000              bytes     \n");
  write("proc/self/status", "Name:\tupsweep\nVmSize:\t     200 kB\nVmData:\t     100 kB\n");
  expect(8'192'000, 6'144'000);
  write("proc/self/limits",
        limits + "Max address space         5000000              9000000              bytes     \n");
  expect(5'000'000, 5'000'000 - 200 * 1024);
  write("proc/self/limits",
        limits + "Max data size             4000000              unlimited            bytes     \n");
  expect(4'000'000, 4'000'000 - 100 * 1024);
  write("proc/self/limits",
        limits + "Max address space         1000                 unlimited            bytes     \n");
  expect(1000, 0);
}

TEST_F(HostMemory, FilesThatAreNotThere) {
  fs::remove_all(root_ / "proc");
  EXPECT_GT(detail::read_host_memory(root_.string()).available, std::size_t{1} << 60);
  EXPECT_GT(host_memory_bytes(), std::size_t{1} << 20);
  EXPECT_LE(available_host_bytes(), host_memory_bytes());
}

}  // namespace
}  // namespace upsweep

// upsweep run on several devices, and started by mpiexec: the files are those of one device, and a mistake or a full
// disk is one line.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "command.h"

namespace upsweep {
namespace {

class CliGroup : public Cli {
 protected:
  CliGroup() {
    std::mt19937 rng(1);
    std::vector<std::uint32_t> numbers(10007), runs;
    std::vector<float> floats(5003);
    std::vector<std::uint8_t> flags(numbers.size());
    for (std::uint32_t& x : numbers) x = static_cast<std::uint32_t>(rng());
    for (std::uint8_t& x : flags) x = rng() % 10 == 0;
    for (float& x : floats) x = std::ldexp(static_cast<float>(rng() % 1000) - 500, static_cast<int>(rng() % 100) - 50);
    while (runs.size() < numbers.size()) runs.insert(runs.end(), rng() % 2000, static_cast<std::uint32_t>(rng() % 3));
    write_raw("numbers", numbers);
    write_raw("flags", flags);
    write_raw("floats", floats);
    write_raw("runs", runs);
    write_raw("empty", std::vector<std::uint32_t>());
  }

  // Expects the same files from `upsweep run call` and from the same with these options, or started so.
  void expect_same(const std::string& call, const std::string& options, const std::string& before = "") const {
    const bool also = call.find("run_length_encode") != std::string::npos || call.find("--with") != std::string::npos ||
                      call.find("partition_if") != std::string::npos;
    const bool has_other = also && call.find("flags") == std::string::npos;
    ASSERT_EQ(run("run " + call + " -o one" + (has_other ? " --also other_one" : "")).code, 0) << call;
    const Outcome outcome =
        run("run " + call + " -o group" + (has_other ? " --also other_group" : "") + " " + options, before);
    ASSERT_EQ(outcome.code, 0) << call << " " << options << "\n" << outcome.err;
    EXPECT_EQ(read(folder_ / "one"), read(folder_ / "group")) << call << " " << options;
    if (has_other) {
      EXPECT_EQ(read(folder_ / "other_one"), read(folder_ / "other_group")) << call << " " << options;
    }
  }
};

const char* const calls[] = {"sort numbers --type u32",
                             "sort empty --type u32",
                             "sort numbers --type u32 --with numbers --param value_bytes=4",
                             "scan numbers --type u32 --out-type u64",
                             "reduce numbers --type u32 --out-type u64",
                             "reduce floats --type f32 --rung reproducible",
                             "reduce floats --type f32 --op argmax",
                             "segmented_scan numbers --type u32 --with flags --param heads=flags",
                             "histogram numbers --type u32 --param lower=0,upper=4294967296",
                             "select runs --type u32 --op unique",
                             "select runs --type u32 --op run_length_encode",
                             "select runs --type u32 --op find_repeats",
                             "select numbers --type u32 --op partition_if",
                             "select numbers --type u32 --op select_flagged --with flags",
                             "partition numbers --type u32 --with numbers --param value_bytes=4"};

TEST_F(CliGroup, FilesAreThoseOfOneDevice) {
  for (const char* call : calls) expect_same(call, "--devices 3");
  expect_same("sort numbers --type u32", "--devices 2 --backend simt");
  // The size of a pipe is known only at its end.
  EXPECT_EQ(run("run sort - --type u32 --devices 3 -o group", "cat numbers |").code, 0);
  EXPECT_EQ(run("run sort numbers --type u32 -o one").code, 0);
  EXPECT_EQ(read(folder_ / "one"), read(folder_ / "group"));
}

TEST_F(CliGroup, MistakesAreOneLine) {
  expect_refused("run sort numbers --type u32 --devices 0", "give a number from 1 to 1024, or all");
  expect_refused("run sort numbers --type u32 --devices 2x", "give a number from 1 to 1024, or all");
  expect_refused("run histogram numbers --type u32 --devices 2", "the range of a histogram must be given");
  expect_refused("run saxpy floats --type f32 --with floats --devices 2", "saxpy has no call of a group");
  expect_refused("run sort nowhere --type u32 --devices 2", "cannot read nowhere");
}

TEST_F(CliGroup, TimesGroupsBesideOneDevice) {
  const Outcome outcome =
      run("bench reduce scan --backend cpu --devices 1,2 -n 2^10 --samples 4 -o records.jsonl && " UPSWEEP_PROGRAM
          " report show records.jsonl --json");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("scan sum u32 n=1024 uniform: 2 devices"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find(R"("devices":2)"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("exchange of 2"), std::string::npos) << outcome.out;
  expect_refused("bench reduce --devices 1,x", "give numbers, such as 1,2,4");
  expect_refused("bench render --devices 1,2", "render has no call of a group");
  expect_refused("bench sort --backend cpu --devices 2 --situation warm", "--devices times single calls");
  expect_refused("bench sort --backend cpu --devices 2 --rung nowhere", "no rung named 'nowhere'");
  expect_refused("bench reduce --backend cpu --devices 2 --rung openmp", "a group's members run one rung");
}

// ---- MPI ------------------------------------------------------------------------------------------------------------

class CliMpi : public CliGroup {
 protected:
  // Root may run it, in a container; local processes need no remote shell.
  static constexpr const char* mpiexec =
      "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_plm_rsh_agent=sh "
      "OMPI_MCA_mpi_yield_when_idle=1 timeout 60 mpiexec --oversubscribe -n 3";

  void SetUp() override {
    if (!fs::exists(fs::path(UPSWEEP_PROGRAM).parent_path() / "../lib/libupsweep_mpi_engine.so"))
      GTEST_SKIP() << "built without MPI";
  }
  // Returns the lines that the command itself printed; mpiexec adds its own.
  static std::vector<std::string> own_lines(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream all(text);
    for (std::string line; std::getline(all, line);)
      if (line.starts_with("upsweep: ")) lines.push_back(line);
    return lines;
  }
  void expect_one_line(const std::string& arguments, const std::string& words) const {
    const std::size_t count = files().size();
    const Outcome outcome = run(arguments, mpiexec);
    EXPECT_NE(outcome.code, 0) << arguments;
    EXPECT_NE(outcome.code, 124) << arguments << " hangs";
    const std::vector<std::string> lines = own_lines(outcome.err);
    ASSERT_EQ(lines.size(), 1) << arguments << "\n" << outcome.err;
    EXPECT_NE(lines[0].find(words), std::string::npos) << lines[0];
    EXPECT_EQ(files().size(), count) << arguments;
  }
};

TEST_F(CliMpi, FilesAreThoseOfOneDevice) {
  for (const char* call : calls) expect_same(call, "", mpiexec);
  expect_same("sort numbers --type u32", "--devices 2", mpiexec);
}

TEST_F(CliMpi, ErrorsAreOneLineAndLeaveNoFile) {
  expect_one_line("run sort nowhere --type u32 -o x", "cannot read nowhere");
  expect_one_line("run sort numbers --type u32 -o /dev/full", "No space left on device");
  expect_one_line("run sort - --type u32", "standard input reaches only one of the processes");
  expect_one_line("run sort numbers --type u32 --devices 0 -o x", "give a number from 1 to 1024");
  // A file that only the second process cannot read.
  fs::create_directories(folder_ / "numbers1");
  for (const char* rank : {"0", "2"}) fs::copy(folder_ / "numbers", folder_ / (std::string("numbers") + rank));
  write("run.sh", std::string("exec ") + UPSWEEP_PROGRAM + " run sort numbers$OMPI_COMM_WORLD_RANK --type u32 -o x\n");
  const Outcome outcome = run("version", std::string(mpiexec) + " sh run.sh; true || ");
  const std::vector<std::string> lines = own_lines(outcome.err);
  ASSERT_EQ(lines.size(), 1) << outcome.err;
  EXPECT_NE(lines[0].find("member 1: cannot read numbers1"), std::string::npos) << lines[0];
  EXPECT_FALSE(fs::exists(folder_ / "x"));
}

TEST_F(CliMpi, AKilledProcessEndsTheJob) {
  write("run.sh", std::string("[ $OMPI_COMM_WORLD_RANK = 1 ] && kill -9 $$\nexec ") + UPSWEEP_PROGRAM +
                      " run sort numbers --type u32 -o x\n");
  const Outcome outcome = run("version", std::string(mpiexec) + " sh run.sh; echo ended $? >&2; true || ");
  EXPECT_EQ(outcome.err.find("ended 0"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("ended 124"), std::string::npos) << "hangs: " << outcome.err;
  EXPECT_FALSE(fs::exists(folder_ / "x"));
}

}  // namespace
}  // namespace upsweep

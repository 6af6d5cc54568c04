// The upsweep command as a user meets it: exit codes, one clear line for every mistake, no half-written file.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/platform.h"

namespace {

namespace fs = std::filesystem;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool under_sanitizer = true;
#else
constexpr bool under_sanitizer = false;
#endif

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return std::move(bytes).str();
}

struct Outcome {
  int code;
  std::string out, err;
};

// Each test runs the program in a folder of its own.
class Cli : public testing::Test {
 protected:
  Cli() {
    std::string pattern = (fs::temp_directory_path() / "upsweep_cli_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~Cli() override { fs::remove_all(folder_); }

  // Runs `before; upsweep arguments` in the folder, through the shell.
  Outcome run(const std::string& arguments, const std::string& before = "") const {
    const std::string command = "cd " + folder_.string() + " && { " + before + " " + UPSWEEP_PROGRAM + " " + arguments +
                                "; } >stdout.txt 2>stderr.txt </dev/null";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read(folder_ / "stdout.txt"),
            read(folder_ / "stderr.txt")};
  }
  // Expects the command to fail with this code, to print one line of error with these words, and no data.
  void expect_error(const std::string& arguments, int code, const std::string& words,
                    const std::string& before = "") const {
    const Outcome outcome = run(arguments, before);
    EXPECT_EQ(outcome.code, code) << arguments << "\n" << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << arguments << "\n" << outcome.err;
    EXPECT_TRUE(outcome.err.starts_with("upsweep: ")) << outcome.err;
    EXPECT_NE(outcome.err.find(words), std::string::npos) << arguments << "\n" << outcome.err;
    EXPECT_EQ(outcome.out, "") << arguments;
  }
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }
  template <class T>
  void write_raw(const std::string& name, const std::vector<T>& values) const {
    write(name, std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)));
  }
  template <class T>
  std::vector<T> read_raw(const std::string& name) const {
    const std::string bytes = read(folder_ / name);
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
    return values;
  }
  // Files in the folder, except the captured stdout and stderr.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_))
      if (const std::string name = entry.path().filename(); name != "stdout.txt" && name != "stderr.txt")
        names.push_back(name);
    std::sort(names.begin(), names.end());
    return names;
  }
  fs::path folder_;
};

TEST_F(Cli, HelpAndVersion) {
  const Outcome help = run("--help");
  EXPECT_EQ(help.code, 0);
  EXPECT_NE(help.out.find("Examples:"), std::string::npos);
  for (const char* command : {"bench", "check", "explain", "run", "compare", "report", "devices"}) {
    EXPECT_NE(help.out.find(command), std::string::npos) << command;
    const Outcome own = run(std::string(command) + " --help");
    EXPECT_EQ(own.code, 0) << command;
    EXPECT_NE(own.out.find("Examples:"), std::string::npos) << command;
    EXPECT_EQ(own.err, "");
  }
  const Outcome version = run("--version");
  EXPECT_EQ(version.code, 0);
  EXPECT_TRUE(version.out.starts_with("upsweep ")) << version.out;
  EXPECT_NE(version.out.find("\ncompiler: "), std::string::npos) << version.out;
  EXPECT_NE(version.out.find("\nbackends: cpu"), std::string::npos) << version.out;
  EXPECT_EQ(run("help bench").out, run("bench --help").out);
  EXPECT_EQ(run("help").out, help.out);
  EXPECT_EQ(run("help sort").out, run("list sort").out);
  EXPECT_EQ(run("help run sort").out, run("run --help").out + "\n" + run("list sort").out);
  EXPECT_EQ(run("help render").out, run("render --help").out) << "the command of that name";
  expect_error("help sotr", 2, "no command or primitive named 'sotr'; did you mean 'sort'?");
  expect_error("help benhc", 2, "did you mean 'bench'?");
  // No line of it is wider than the 100 columns of a pipe.
  std::istringstream lines(help.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
}

// Completion and the manual page come from the same description as --help.
TEST_F(Cli, CompletionAndManual) {
  EXPECT_EQ(run("complete 'upsweep b'").out.substr(0, 6), "bench\t");
  EXPECT_EQ(run("complete 'upsweep bench red'").out, "reduce\t\n");
  EXPECT_EQ(run("complete 'upsweep bench scan --op s'").out, "sum\t\n");
  EXPECT_EQ(run("complete 'upsweep bench scan --op=m'").out, "--op=min\t\n--op=max\t\n");
  EXPECT_EQ(run("complete 'upsweep bench scan --type i32,f6'").out, "i32,f64\t\n");
  EXPECT_EQ(run("complete 'upsweep bench scan --param inc'").out,
            "inclusive=\t\ninclusive=false\t\ninclusive=true\t\n");
  EXPECT_EQ(run("complete 'upsweep render rg'").out, "rgb\t\nrgby\t\n");
  EXPECT_EQ(run("complete 'upsweep render circles.c'").out, "") << "a file";
  EXPECT_EQ(run("complete 'upsweep run scan --rung two'").out, "two_pass\t\n");
  EXPECT_EQ(run("complete 'upsweep bench --situation w'").out, "warm\t\n");
  EXPECT_EQ(run("complete 'upsweep run scan '").out, "") << "a file";
  // Offered is what is taken: on files, neither primitives without a stream, nor peers, deliberate bugs and rungs of
  // another backend, nor parameters that shape inputs of the laboratory.
  const auto offers = [&](const std::string& line, const char* word) {
    return ("\n" + run("complete '" + line + "'").out).find(std::string("\n") + word + "\t") != std::string::npos;
  };
  EXPECT_TRUE(offers("upsweep run r", "reduce"));
  EXPECT_FALSE(offers("upsweep run r", "render"));
  EXPECT_FALSE(offers("upsweep run ce", "ceiling"));
  EXPECT_TRUE(offers("upsweep run scan --rung ", "serial"));
  EXPECT_FALSE(offers("upsweep run scan --rung ", "std::scan"));
  EXPECT_FALSE(offers("upsweep run scan --rung ", "lookback"));
  EXPECT_TRUE(offers("upsweep run select --param ", "below="));
  EXPECT_FALSE(offers("upsweep run select --param ", "share="));
  EXPECT_TRUE(offers("upsweep run sort --param ", "value_bytes="));
  EXPECT_TRUE(offers("upsweep run scan --param ", "threads="));
  EXPECT_FALSE(offers("upsweep run scan --param ", "grid="));
#if defined(UPSWEEP_WITH_SIMT)
  EXPECT_TRUE(offers("upsweep run scan --backend simt --rung ", "lookback"));
  EXPECT_FALSE(offers("upsweep run scan --backend=simt --rung ", "serial"));
  EXPECT_FALSE(offers("upsweep run scan --backend simt --rung ", "missing_fence")) << "wrong on purpose";
  EXPECT_TRUE(offers("upsweep run scan --backend simt --param ", "grid="));
  EXPECT_TRUE(offers("upsweep explain scan --rung ", "lookback"));
  EXPECT_FALSE(offers("upsweep explain scan --rung ", "simd"));
#endif
  const std::string manual = run("man").out;
  for (const char* command : {"bench", "check", "explain", "run", "render", "compare", "report", "list", "devices"}) {
    EXPECT_NE(manual.find(std::string(".SS upsweep ") + command), std::string::npos) << command;
    const std::string help = run(std::string(command) + " --help").out;
    std::istringstream answers(run(std::string("complete 'upsweep ") + command + " --'").out);
    for (std::string line; std::getline(answers, line);)
      EXPECT_NE(help.find(line.substr(0, line.find('\t'))), std::string::npos) << command << " " << line;
  }
  for (const char* shell : {"bash", "zsh", "fish"})
    EXPECT_NE(run(std::string("completion ") + shell).out.find("complete"), std::string::npos) << shell;
  expect_error("completion tcsh", 2, "no shell named 'tcsh'");
  const Outcome bash =
      run("completion bash >c.bash; bash -c '. ./c.bash; COMP_LINE=\"upsweep bench --situation=w\"; "
          "COMP_POINT=${#COMP_LINE}; COMP_WORDS=(" UPSWEEP_PROGRAM "); _upsweep; echo \"${COMPREPLY[*]}\"'");
  EXPECT_EQ(bash.out, "warm\n") << bash.err;
}

TEST_F(Cli, ListsWhatThereIs) {
  const std::string scan = run("list scan").out;
  for (const char* words : {"operations: sum min max", "inclusive: true or false", "threads: a whole number from 0 to",
                            "serial (cpu)", "parallel (cpu, default)", "inputs: uniform", "types: i8"})
    EXPECT_NE(scan.find(words), std::string::npos) << words << "\n" << scan;
  EXPECT_NE(run("list select").out.find("; of select_if, partition_if"), std::string::npos);
  const std::string json = run("list saxpy --json").out;
  EXPECT_NE(json.find(R"({"name":"a","takes":"of the elements' type","default":"2")"), std::string::npos) << json;
  const std::string all = run("list").out;
  for (const char* primitive : {"reduce: ", "scan: ", "sort: ", "render: "})
    EXPECT_NE(all.find(primitive), std::string::npos) << primitive;
  expect_error("list scna", 2, "did you mean 'scan'?");
  const std::string markdown = run("list scan --format markdown").out;
  EXPECT_TRUE(markdown.starts_with("## scan\n\nout[i] = in[0] op ")) << markdown;
  for (const char* words : {"\n- operations: sum min max\n", "\n### Parameters\n\n- `inclusive`: true or false; ",
                            "\n### Rungs and peers\n\n- `serial` (cpu): "})
    EXPECT_NE(markdown.find(words), std::string::npos) << words << "\n" << markdown;
}

TEST_F(Cli, ColourWhenAskedFor) {
  const std::string escape = "\033[";
  const auto has = [&](const std::string& arguments, const char* before = "") {
    return run(arguments, before).out.find(escape) != std::string::npos;
  };
  EXPECT_FALSE(has("list scan"));
  EXPECT_TRUE(has("list scan --color always"));
  EXPECT_TRUE(has("--color=always list scan", "export NO_COLOR=1;")) << "what is asked for comes first";
  EXPECT_FALSE(has("list scan --color never"));
  expect_error("list --color allways", 2, "did you mean 'always'?");
}

// A reader that has seen enough ends the program as it ends every other: by SIGPIPE, without a word.
TEST_F(Cli, TheReaderGoesAway) {
  write("big.raw", std::string(1 << 20, 'x'));
  run("run scan big.raw --type u8 2>err.txt; echo $? >code.txt; } | { head -c 1");
  EXPECT_EQ(read(folder_ / "code.txt"), "141\n");
  EXPECT_EQ(read(folder_ / "err.txt"), "");
}

TEST_F(Cli, ProgressWithoutATerminal) {
  const Outcome outcome = run("bench reduce --backend cpu --rung serial --no-peers -n 2^20 --min-time 1 --samples 4",
                              "export UPSWEEP_PROGRESS=0.2;");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(outcome.err.starts_with("upsweep: case 0/1, ")) << outcome.err;
  EXPECT_EQ(outcome.err.find('\r'), std::string::npos) << outcome.err;
}

TEST_F(Cli, EmptyValuesAreRefused) {
  for (const char* arguments :
       {"bench reduce --op ''", "bench reduce -n ''", "bench reduce --op=", "bench ''", "check --rung ''",
        "bench -o ''", "run reduce ''", "compare '' ''", "render rgb --size ''", "report show ''"})
    expect_error(arguments, 2, "empty");
}

TEST_F(Cli, FormatsOfABenchmark) {
  const std::string bench = "bench reduce --backend cpu --rung serial,simd --no-peers -n 1K --samples 4 --format ";
  const std::string csv = run(bench + "csv -o r.jsonl").out;
  EXPECT_TRUE(csv.starts_with("primitive,rung,peer,backend,op,type,n,input,params,")) << csv;
  EXPECT_NE(csv.find("\nreduce,simd,,cpu,sum,f32,1024,uniform,,"), std::string::npos) << csv;
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 4) << "a header, two rungs and a ceiling";
  EXPECT_TRUE(read(folder_ / "r.jsonl").starts_with("{\"device\"")) << "the file has JSON lines";
  EXPECT_NE(run(bench + "markdown").out.find("\n\n| rung | time | GB/s | score |\n|---|---:|"), std::string::npos);
  EXPECT_TRUE(run(bench + "json").out.starts_with("{\"device\""));
  EXPECT_TRUE(run("report show r.jsonl --format csv").out.starts_with("primitive,rung,"));
  EXPECT_EQ(run("report show r.jsonl --json").out, read(folder_ / "r.jsonl"));
  // Lines go to standard output and to the file.
  const std::string both = run(bench + "json -o both.jsonl").out;
  EXPECT_TRUE(both.starts_with("{\"device\"")) << both;
  EXPECT_EQ(both, read(folder_ / "both.jsonl"));
  const std::string lines = run("compare r.jsonl r.jsonl --json -o -").out;
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 3) << "each once:\n" << lines;
  for (const std::string format : {"csv", "markdown", "table"})
    expect_error(bench + format + " -o -", 2, "--format " + format + ": -o - writes JSON lines instead");
  expect_error(bench + "xml", 2, "no format named 'xml'");
  expect_error("report plot r.jsonl --json", 2, "one format only");
}

TEST_F(Cli, AppendsAndResumes) {
  const std::string bench = "bench reduce --backend cpu --rung serial --no-peers --samples 4 -o r.jsonl ";
  ASSERT_EQ(run(bench + "-n 1K").code, 0);
  const std::string first = read(folder_ / "r.jsonl");
  ASSERT_EQ(run(bench + "-n 2K --append").code, 0);
  const std::string second = read(folder_ / "r.jsonl");
  EXPECT_TRUE(second.starts_with(first));
  EXPECT_EQ(std::count(second.begin(), second.end(), '\n'), 6);
  const Outcome resumed = run(bench + "-n 1K,2K,4K --resume");
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  const std::string third = read(folder_ / "r.jsonl");
  EXPECT_TRUE(third.starts_with(second));
  // The records of a changed tree are of no revision: then every case is measured again.
  const bool changed = run("--version").out.find("-dirty") != std::string::npos;
  EXPECT_EQ(std::count(third.begin(), third.end(), '\n'), changed ? 11 : 9) << resumed.err;
  EXPECT_EQ(resumed.err.find("2 cases are in r.jsonl already") == std::string::npos, changed) << resumed.err;
  expect_error("bench reduce --append", 2, "--output");
  for (const char* option : {"--append", "--resume"})
    expect_error(std::string("bench reduce -o - ") + option, 2, std::string(option) + " keeps the records of a file");
  write("r.jsonl", "no record");
  expect_error(bench + "-n 1K --append", 2, "r.jsonl:1: not a record");
  EXPECT_EQ(read(folder_ / "r.jsonl"), "no record");
}

TEST_F(Cli, ListsTheRungThatACallGets) {
  const std::string small = run("list scan -n 1K --type u32").out;
  EXPECT_TRUE(small.starts_with("scan u32 sum n=2^10\n  cpu: parallel (all cores)\n")) << small;
  expect_error("list scan --type u32", 2, "add its number of elements");
  expect_error("list ceiling -n 1K", 2, "ceiling has no rung that runs by default");
#if defined(UPSWEEP_WITH_SIMT)
  EXPECT_NE(small.find("\n  simt h200: wave ("), std::string::npos) << small;
  const std::string large = run("list scan -n 2^28 --type u32 --json").out;
  EXPECT_NE(large.find(R"("n":268435456,"on":"simt h200","rung":"pipeline")"), std::string::npos) << large;
  EXPECT_NE(run("list scan -n 2^28 --device t4").out.find("simt t4: lookback ("), std::string::npos);
  expect_error("list scan -n 1K --device t5", 2, "no emulated device is called 't5'");
#endif
}

TEST_F(Cli, ResultsAsJson) {
  write_raw<float>("in.raw", {1, 2.5f, INFINITY});
  EXPECT_EQ(run("run scan in.raw --type f32 --json --param inclusive=1 --rung serial").out,
            R"({"primitive":"scan","rung":"serial","backend":"cpu","op":"sum","type":"f32","result_type":"f32",)"
            R"("result":[1,3.5,"inf"]})"
            "\n");
  // A reader of JSON takes -0 for an integer, which has no sign.
  write_raw<float>("zeros.raw", {-0.f, 0, 1});
  const std::string zeros = run("run sort zeros.raw --type f32 --json").out;
  EXPECT_TRUE(zeros.ends_with("\"result\":[-0.0,0,1]}\n")) << zeros;
  EXPECT_EQ(run("run sort zeros.raw --type f32").out, "-0\n0\n1\n");
  write_raw<double>("wide.raw", {-0.});
  EXPECT_TRUE(run("run scan wide.raw --type f64 --param inclusive=true --json").out.ends_with("[-0.0]}\n"));
  write_raw<std::uint32_t>("keys.raw", {3, 1, 2});
  EXPECT_EQ(run("run partition keys.raw --type u32 --param bits=1 --table --json").out,
            "{\"bucket\":0,\"offset\":0,\"count\":1}\n{\"bucket\":1,\"offset\":1,\"count\":2}\n");
  expect_error("run scan in.raw --type f32 --json -o out.npy", 2, "nothing is left to print as JSON");
}

TEST_F(Cli, ParametersThatTheOperationDoesNotRead) {
  write_raw<std::int32_t>("in.raw", {3, 1, 2});
  for (const char* command : {"bench select --backend cpu -n 10", "bench select --backend cpu -n 10 --op unique",
                              "run select in.raw --type i32"})
    expect_error(std::string(command) + " --param below=3", 2, "does not read the parameter 'below'");
  expect_error("run select in.raw --type i32 --param below=3,share=1", 2, "its parameters: block");
}

TEST_F(Cli, UnknownNamesSuggestTheNearest) {
  expect_error("benhc", 2, "did you mean 'bench'?");
  expect_error("bench redcue", 2, "did you mean 'reduce'?");
  expect_error("bench reduce --rung seriall", 2, "did you mean 'serial'?");
  expect_error("bench reduce --backend cpu --type f23", 2, "did you mean 'f32'?");
  expect_error("bench reduce --type i32,,f32", 2, "'i32,,f32' has an empty item");
  expect_error("bench reduce --rung serial, --rung simd", 2, "'serial,' has an empty item");
  expect_error("bench reduce --op summ", 2, "did you mean 'sum'?");
  expect_error("bench reduce --input unifrom", 2, "did you mean 'uniform'?");
  expect_error("bench reduce --backend cdua", 2, "did you mean 'cuda'?");
  expect_error("check reduce --rung seriall", 2, "did you mean 'serial'?");
  expect_error("check reduce --input unifrom", 2, "did you mean 'uniform'?");
  expect_error("report raedme x", 2, "did you mean 'readme'?");
  expect_error("bench --smaples 10", 2, "no option named '--smaples'; did you mean '--samples'?");
  expect_error("run --tpye i32", 2, "did you mean '--type'?");
  expect_error("bench -N 10", 2, "did you mean '-n'?");
  expect_error("BENCH reduce", 2, "did you mean 'bench'?");
  expect_error("bench REDUCE", 2, "did you mean 'reduce'?");
  expect_error("bench reduce --rung SIMD", 2, "did you mean 'simd'?");
  expect_error("bench reduce --op MAX", 2, "did you mean 'max'?");
  expect_error("bench --situation worm", 2, "did you mean 'warm'?");
  expect_error("--color never lsit", 2, "did you mean 'list'?");
  expect_error("chekc --quick", 2, "did you mean 'check'?");
}

TEST_F(Cli, WrongArguments) {
  expect_error("", 2, "subcommand");
  expect_error("bench --nonsense", 2, "--nonsense");
  expect_error("bench reduce -n many", 2, "'many' is not a size");
  expect_error("bench reduce -n 2^99", 2, "more than any machine");
  expect_error("bench reduce --samples 0", 2, "samples");
  expect_error("bench reduce --param block", 2, "'block' is not a parameter");
  expect_error("bench reduce --param block=64,block=128", 2, "the parameter 'block' is given twice");
  expect_error("bench reduce --param block=x", 2, "'block=x': block is a whole number from 1 to 1024");
  expect_error("bench select --param shape=0.5", 2, "did you mean 'share'");
  expect_error("bench reduce --param inclusive=1", 2, "no parameter of reduce named 'inclusive'");
  expect_error("bench reduce --param chunk=1000", 2, "no parameter of reduce named 'chunk'");
  expect_error("bench reduce --param blokc=256", 2, "did you mean 'block'");
  expect_error("bench scan --param inclusve=1", 2, "did you mean 'inclusive'");
  expect_error("bench reduce --situation hot", 2, "--situation");
  expect_error("bench reduce --type u8", 2, "does not take type u8");
  expect_error("bench reduce --backend simt", 2, "explain");
  expect_error("compare one.jsonl", 2, "after");
}

TEST_F(Cli, ParametersOutOfRange) {
  for (const char* block : {"0", "0.5", "1025", "4294967296"})
    expect_error(std::string("bench reduce --param block=") + block, 2, "block is a whole number from 1 to 1024");
  for (const char* grid : {"0", "1.5", "2147483648"})
    expect_error(std::string("bench scan --param grid=") + grid, 2, "grid is a whole number from 1 to 2147483647");
  for (const char* threads : {"1.5", "2e9", "3e9"})
    expect_error(std::string("bench scan --param threads=") + threads, 2, "threads is a whole number from 0 to");
  for (const char* heads : {"0", "flag", "1e300"})
    expect_error(std::string("bench segmented_scan --backend cpu -n 1000 --json --param heads=") + heads, 2,
                 "heads is one of flags, keys, offsets");
  for (const char* length : {"0.5", "-1", "18446744073709551615", "1e300"})
    expect_error(std::string("bench segmented_scan --backend cpu -n 1000 --json --param length=") + length, 2,
                 "length is a whole number from 0 to 9007199254740992");
  for (const char* inclusive : {"2", "yes", "0.5"})
    expect_error(std::string("bench scan --backend cpu -n 1000 --param inclusive=") + inclusive, 2,
                 "inclusive is true or false");
  for (const char* share : {"1.5", "-0.5", "nan", "half"})
    expect_error(std::string("bench select --backend cpu -n 1000 --param share=") + share, 2,
                 "share is a number from 0 to 1");
  for (const char* run_length : {"0", "inf"})
    expect_error(std::string("bench select --backend cpu -n 1000 --param run_length=") + run_length, 2,
                 "run_length is a number from 1 on");
  for (const char* option :
       {"render rgb --eps ", "render rgb --alpha ", "compare a b --threshold ", "bench --min-time "})
    for (const char* value : {"nan", "-1", "1e7", "x"})
      expect_error(std::string(option) + value, 2, "is not a number from 0 to");
  write_raw<std::int32_t>("in.raw", {3, -5, 10, 4});
  for (const char* threads : {"0", "1", "256"})
    EXPECT_EQ(run(std::string("run scan in.raw --type i32 --param threads=") + threads).out, "0\n3\n-2\n8\n");
  expect_error("run scan in.raw --type i32 --param block=0", 2, "block is a whole number");
}

TEST_F(Cli, MoreThanMemoryIsRefusedAtOnce) {
  expect_error("bench reduce --backend cpu -n 2^40 --json", 2, "host memory");
  expect_error("check reduce --backend cpu --rung simd -n 100,2^40", 2, "host memory");
  expect_error("render micro2M -n 2^40", 2, "host memory");
#if defined(UPSWEEP_WITH_SIMT)
  expect_error("check reduce --backend simt --rung total -n 2^40", 2, "host memory");
  expect_error("explain reduce --rung total -n 2^40", 2, "host memory");
#endif
}

TEST_F(Cli, SizesBeyondAnyMachine) {
  expect_error("bench reduce --backend cpu -n 2^60", 2, "more than any machine holds");
  expect_error("bench reduce --backend cpu -n 2^40", 2, "host memory");
#if defined(UPSWEEP_WITH_SIMT)
  expect_error("explain scan --rung block -n 2^20", 2, "use n up to 2048");
  expect_error("explain scan --rung block -n 100 --type u64", 2, "for u64; every rung is there for i32");
  expect_error("check scan --backend simt --rung block -n 2^20", 2, "nothing is left to check");
#endif
}

// Numbers are decimal and whole text, and none is changed silently.
TEST_F(Cli, NumbersAreWhatTheySay) {
  write_raw<std::int32_t>("in.raw", {3, -5, 10, 4});
  for (const char* option : {"bench --samples", "check --schedule", "check --failures", "report show x --channels",
                             "render rgb --seed", "compare a b --threshold", "bench --min-time"})
    for (const char* number : {"18446744073709551616", "-1", "+4", "0x10", "4x", "4 5", "1e99", "nan", "four"})
      expect_error(std::string(option) + " '" + number + "'", 2, "number from ");
  expect_error("bench --samples 4.5", 2, "'4.5' is not a whole number from 4 to 100000");
  expect_error("check --schedule 1e3", 2, "whole number");
  // Digits after a zero are not octal.
  EXPECT_EQ(run("render rand10k -n 4 --size 8 --seed 010 -o a.ppm").code, 0);
  EXPECT_EQ(run("bench reduce --backend cpu --rung serial --no-peers -n 010 --samples 008 --json").code, 0);
  EXPECT_EQ(run("run reduce in.raw --type i32 -n 03").out, "8\n");
  for (const char* memory : {"1T", "8GB", "1.5G", "500MiB", "1e9", "2^30", "8g"})
    EXPECT_EQ(run(std::string("run sort in.raw --type i32 --memory ") + memory).out, "-5\n3\n4\n10\n") << memory;
  for (const char* memory : {"8X", "-1", "1,5G", "1G..2G", "0x10", "G"})
    expect_error(std::string("run sort in.raw --type i32 --memory ") + memory, 2, "is not a size in bytes");
  EXPECT_EQ(run("bench reduce --backend cpu --rung serial --no-peers -n 1e3 --samples 4 --json").code, 0);
  expect_error("bench reduce -n 1.3K", 2, "'1.3K' is not a size");
}

#if defined(UPSWEEP_WITH_SIMT)
// The emulator reserves addresses when it is used, and makes do with what a limit leaves.
TEST_F(Cli, LimitedAddresses) {
  for (const char* limit : {"ulimit -v 4000000;", "ulimit -v 1000000;"}) {
    const Outcome devices = run("devices", limit);
    EXPECT_EQ(devices.code, 0) << limit << devices.err;
    EXPECT_NE(devices.out.find("simt"), std::string::npos) << devices.out;
    EXPECT_EQ(run("list", limit).code, 0) << limit;
    const Outcome check = run("check scan --rung lookback,serial -n 1000,20000", limit);
    EXPECT_EQ(check.code, 0) << limit << check.out << check.err;
  }
}
#endif

TEST_F(Cli, UnwritableOutputIsFoundFirst) {
  expect_error("bench reduce --backend cpu -n 2^10 -o nowhere/results.jsonl", 2, "nowhere/results.jsonl");
  expect_error("run reduce in.raw --type i32 -o nowhere/out.npy", 2, "nowhere/out.npy", "printf 1234 >in.raw;");
}

TEST_F(Cli, FullDisk) {
  expect_error("run reduce in.raw --type i32 -o /dev/full", 2, "/dev/full", "printf 1234 >in.raw;");
  const Outcome image = run("render rgb --size 8x8 -o - >/dev/full");
  EXPECT_EQ(image.code, 2);
  EXPECT_EQ(image.err.find("libpng"), std::string::npos) << image.err;
  for (const char* arguments : {"run reduce in.raw --type i32", "--help", "--version", "run --help", "help sort",
                                "completion bash", "man", "list"}) {
    const Outcome outcome = run(std::string(arguments) + " >/dev/full", "printf 1234 >in.raw;");
    EXPECT_EQ(outcome.code, 2) << arguments;
    EXPECT_NE(outcome.err.find("cannot write standard output"), std::string::npos) << arguments << outcome.err;
  }
}

TEST_F(Cli, BenchWritesRecords) {
  const Outcome outcome = run("bench reduce --backend cpu -n 1000 --rung serial --samples 4 -o results.jsonl");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("serial"), std::string::npos);
  const std::string records = read(folder_ / "results.jsonl");
  EXPECT_NE(records.find("\n{\"primitive\":\"reduce\",\"rung\":\"serial\""), std::string::npos) << records;
  EXPECT_NE(records.find("\"primitive\":\"ceiling\",\"rung\":\"read\""), std::string::npos);
  EXPECT_EQ(files().size(), 1u);

  // A run compared with itself has no changes.
  const Outcome same = run("compare results.jsonl results.jsonl");
  EXPECT_EQ(same.code, 0) << same.err;
  EXPECT_EQ(run("report show results.jsonl").code, 0);
}

// Parameters are recorded with their types.
TEST_F(Cli, RecordsHaveTypedParametersAndTheSituation) {
  const auto bench = [&](const std::string& arguments) {
    const Outcome outcome =
        run("bench " + arguments + " --backend cpu -n 100 --rung serial --no-peers --samples 4 --json");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.out;
  };
  const std::string segmented = bench("segmented_scan --situation warm --param heads=offsets,inclusive=1,length=7");
  EXPECT_NE(segmented.find(R"("params":{"heads":"offsets","inclusive":true,"length":7},"situation":"warm")"),
            std::string::npos)
      << segmented;
  const std::string saxpy = bench("saxpy --type f32 --param a=-0.5,threads=1");
  EXPECT_NE(saxpy.find(R"("op":null,"type":"f32")"), std::string::npos) << saxpy;
  EXPECT_NE(saxpy.find(R"("params":{"a":-0.5},"situation":"back_to_back")"), std::string::npos)
      << "serial reads no threads\n"
      << saxpy;
  const std::string reproducible = bench("reduce --param threads=1 --rung reproducible");
  EXPECT_NE(reproducible.find(R"("params":{"threads":1})"), std::string::npos) << reproducible;
  const std::string select = bench("select --op select_if --type i64 --param below=-9223372036854775808");
  EXPECT_NE(select.find(R"("params":{"below":-9223372036854775808})"), std::string::npos) << select;
}

TEST_F(Cli, ParametersThatNoRungReads) {
  expect_error("bench reduce --backend cpu --param block=64", 2, "no rung of cpu reads the parameter 'block'");
  write_raw<std::int32_t>("in.raw", {3, 1, 2});
  expect_error("run reduce in.raw --type i32 --param grid=3", 2, "no rung of cpu reads the parameter 'grid'");
#if defined(UPSWEEP_WITH_SIMT)
  expect_error("explain reduce -n 100 --param threads=2", 2, "no rung of simt reads the parameter 'threads'");
  // Those of copies from host memory, of which only some rungs make any.
  expect_error("run saxpy in.raw --with in.raw --type i32 --backend simt --param streams=2 -o out.raw", 2,
               "none of these rungs reads the parameter 'streams'");
  for (const std::string command : {"explain saxpy", "check saxpy --backend simt --type i32"}) {
    expect_error(command + " -n 100 --rung naive --param chunk=64", 2,
                 "none of these rungs reads the parameter 'chunk'");
    EXPECT_EQ(run(command + " -n 100 --rung naive,from_host_pipelined --param chunk=64").code, 0) << command;
  }
#endif
}

// What a conversion would lose is not advised: fractions, signs, what is beyond the other type's range.
TEST_F(Cli, HintsKeepTheValues) {
  write_raw<std::uint64_t>("in.raw", {1, 2, 3, 4});
  expect_error("run partition in.raw --type u8", 2, "a.astype('u4')");
  expect_error("run partition in.raw --type f32", 2, "the bits of every element as a number, in numpy: a.view('u4')");
  expect_error("run partition in.raw --type i64", 2, "a.view('u8')");
  expect_error("run partition in.raw --type i8", 2, "it takes u32, u64, none of which holds every value of i8");
  expect_error("run reduce in.raw --type i16", 2, "--out-type i32, i64, f32, f64");
  expect_error("run histogram in.raw --type f32 --op direct", 2,
               "no rung of histogram takes direct of f32 (of f32 it takes even, edges)");
}

// NumPy's bins: from the least to the greatest sample, which is in the last one; an image and a pipe likewise.
TEST_F(Cli, HistogramsHaveTheRangeOfTheirSamples) {
  const auto counts = [&](const std::string& arguments, const std::string& before = "") {
    const Outcome outcome = run("run histogram " + arguments, before);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "") << arguments;
    return outcome.out;
  };
  write_raw<float>("f32.raw", {1, 2, 3, 4, 5, 100, -7});
  EXPECT_EQ(counts("f32.raw --type f32 --param bins=2"), "6\n1\n");
  EXPECT_EQ(counts("- --type f32 --param bins=2", "cat f32.raw |"), "6\n1\n");
  write_raw<double>("f64.raw", {0, 0.25, 0.5, 0.75, 1});
  EXPECT_EQ(counts("f64.raw --type f64 --param bins=4"), "1\n1\n1\n2\n");
  write_raw<std::int64_t>("i64.raw", {-5, 0, 5, 5, std::numeric_limits<std::int64_t>::max()});
  EXPECT_EQ(counts("i64.raw --type i64 --param bins=2"), "4\n1\n");
  write_raw<std::uint8_t>("u8.raw", {7, 7, 7});
  EXPECT_EQ(counts("u8.raw --type u8 --param bins=1"), "3\n");
  EXPECT_EQ(counts("u8.raw --type u8").find("0\n0\n0\n0\n0\n0\n0\n3\n0\n"), 0u) << "of bytes, a bin for each value";
  EXPECT_EQ(counts("f32.raw --type f32 -n 1 --param bins=2"), "0\n1\n") << "half below to half above";
}

// What is counted nowhere is said, unless its number is asked for.
TEST_F(Cli, SamplesInNoBinAreSaid) {
  write_raw<float>("in.raw", {1, 2, 3, std::numeric_limits<float>::quiet_NaN()});
  const Outcome nan = run("run histogram in.raw --type f32 --param bins=1");
  EXPECT_EQ(nan.code, 0);
  EXPECT_EQ(nan.out, "3\n");
  EXPECT_NE(nan.err.find("1 element is in no bin"), std::string::npos) << nan.err;
  const Outcome range = run("run histogram in.raw --type f32 --param bins=1,lower=2,upper=3");
  EXPECT_NE(range.err.find("3 elements are in no bin"), std::string::npos) << range.err;
  EXPECT_EQ(run("run histogram in.raw --type f32 --param bins=1,lower=2,upper=3 --also outside.raw").err, "");
  EXPECT_EQ(read_raw<std::uint64_t>("outside.raw"), (std::vector<std::uint64_t>{3}));
  EXPECT_NE(run("list histogram").out.find("run: the least sample"), std::string::npos);
}

// A case that the laboratory cannot make is left out, and the others run.
TEST_F(Cli, CasesThatCannotBeMade) {
  const std::string bench = "bench histogram --backend cpu --rung serial --no-peers --op edges -n 1K --json";
  const Outcome none = run(bench + " --type u8 --param bins=1000");
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("the laboratory has no 1001 different edges of u8"), std::string::npos) << none.err;
  EXPECT_EQ(none.out.find("\"bins\""), std::string::npos) << "no record: " << none.out;
  const Outcome some = run(bench + " --type u8,u16 --param bins=1000");
  EXPECT_EQ(some.code, 0) << some.err;
  EXPECT_NE(some.out.find("\"type\":\"u16\""), std::string::npos) << some.out;
  // Nor is there anything to time where no rung takes the type.
  const Outcome direct =
      run("bench histogram --backend cpu --rung serial --no-peers --op direct --type f32 -n 1K -o r.jsonl");
  EXPECT_EQ(direct.code, 2);
  EXPECT_NE(direct.err.find("nothing was timed: no rung takes any of these cases"), std::string::npos) << direct.err;
  EXPECT_TRUE(files().empty());
  EXPECT_EQ(run("check histogram --backend cpu --rung serial --quick --param bins=70000").code, 0);
  EXPECT_EQ(run("check histogram --backend cpu --rung serial --quick --type u8 --op edges --param bins=255").code, 0);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which are built without peers
// They are left out, and the others run.
TEST_F(Cli, PeersThatDoNotTakeACase) {
  const Outcome outcome =
      run("bench sort --backend cpu --rung serial --type u32 -n 300 --samples 4 --param value_bytes=16 --json");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("not run: sort/"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.out.find("\"median_us\":null"), std::string::npos) << outcome.out;
  const std::string peer = "bench sort --backend cpu --rung std::sort --no-peers --type u32 -n 300 --samples 4";
  EXPECT_EQ(run(peer).code, 0) << "a peer alone";
  EXPECT_EQ(run(peer + " --param value_bytes=16").code, 2) << "nothing is left to time";
}
#endif

// Every figure in a README comes from results/.
TEST_F(Cli, ReadmesAndPicturesSayWhatTheRecordsSay) {
  const std::string in_source = std::string("cd ") + UPSWEEP_SOURCE_DIR + " &&";
  const Outcome tables =
      run("report readme --check README.md src/ladders/reduce/README.md src/ladders/scan/README.md "
          "src/ladders/histogram/README.md src/ladders/partition/README.md docs/notes/reduce-cpu.md",
          in_source);
  EXPECT_EQ(tables.code, 0) << tables.err;
  for (const std::string name : {"reduce", "scan"}) {
    const std::string base = "results/h200/" + name;
    const Outcome picture = run("report plot --check " + base + ".jsonl --type i32 -o " + base + "-i32.svg", in_source);
    EXPECT_EQ(picture.code, 0) << picture.err;
  }
  expect_error("report plot --check results.jsonl", 2, "-o");
  // The check can fail.
  const Outcome other =
      run("report plot --check results/h200/reduce.jsonl --type f32 -o results/h200/reduce-i32.svg", in_source);
  EXPECT_EQ(other.code, 1) << other.err;
}

TEST_F(Cli, CompareFindsRegressions) {
  const std::string record =
      R"({"primitive":"reduce","rung":"simd","peer":null,"backend":"cpu","op":"sum","type":"f32","n":1024,"input":"uniform",)"
      R"("params":{},"samples":20,"median_us":MEDIAN,"q1_us":MEDIAN,"q3_us":MEDIAN,"traffic_bytes":4100,"ceiling":"read",)"
      R"("ceiling_gbs":40.0,"score":0.9,"checked":true,"aa_spread":0.01,"peer_version":null,"device":"DEVICE","driver":"d",)"
      R"("compiler":"c","flags":"f","revision":"r","run":"x","time":"2025-01-01T00:00:00Z"})";
  const auto with = [&](const std::string& median, const std::string& device) {
    std::string text = record;
    for (std::size_t at; (at = text.find("MEDIAN")) != text.npos;) text.replace(at, 6, median);
    return text.replace(text.find("DEVICE"), 6, device) + "\n";
  };
  write("before.jsonl", with("10.0", "a"));
  write("slower.jsonl", with("20.0", "a"));
  write("elsewhere.jsonl", with("20.0", "b"));
  const Outcome slower = run("compare before.jsonl slower.jsonl");
  EXPECT_EQ(slower.code, 3);
  EXPECT_NE(slower.out.find("+100.0 %"), std::string::npos) << slower.out;
  EXPECT_EQ(run("compare slower.jsonl before.jsonl").code, 0);
  expect_error("compare before.jsonl elsewhere.jsonl", 2, "--across");
  EXPECT_EQ(run("compare before.jsonl elsewhere.jsonl --across").code, 3);
  // A threshold, and cases that are gone.
  EXPECT_EQ(run("compare before.jsonl slower.jsonl --threshold 101").code, 0);
  EXPECT_EQ(run("compare before.jsonl slower.jsonl --threshold 99").code, 3);
  std::string more = with("10.0", "a");
  write("more.jsonl", with("10.0", "a") + more.replace(more.find("1024"), 4, "4096"));
  EXPECT_EQ(run("compare more.jsonl before.jsonl").code, 0);
  EXPECT_EQ(run("compare more.jsonl before.jsonl --require-all").code, 3);
  EXPECT_NE(run("compare before.jsonl slower.jsonl --format markdown").out.find("| case | before |"),
            std::string::npos);
  // Lines have every case; a table has the unchanged ones if asked.
  const std::string same = "compare before.jsonl before.jsonl ", one_case = "reduce/simd cpu f32 sum";
  EXPECT_EQ(run(same).out.find(one_case), std::string::npos);
  EXPECT_NE(run(same + "--all").out.find(one_case), std::string::npos);
  for (const char* format : {"--json", "--format csv", "-o -"}) {
    EXPECT_NE(run(same + format).out.find(one_case), std::string::npos) << format;
    expect_error(same + "--all " + format, 2, "--all is of the table");
  }
  EXPECT_NE(run(same + "--all -o lines.jsonl").out.find(one_case), std::string::npos);
  expect_error("compare before.jsonl missing.jsonl", 2, "missing.jsonl");
  write("broken.jsonl", "{\"primitive\":\n");
  expect_error("compare before.jsonl broken.jsonl", 2, "broken.jsonl:1");
  std::string other = with("10.0", "a");
  write("other.jsonl", other.replace(other.find("1024"), 4, "2048"));
  expect_error("compare before.jsonl other.jsonl", 2, "no case in common");
}

// Records that differ in parameters or situation alone have a table each.
TEST_F(Cli, ReportShowsWhatDiffers) {
  ASSERT_EQ(run("bench scan --backend cpu --rung serial --no-peers --type i32 --op sum -n 1K --samples 4 "
                "--param inclusive=true -o a.jsonl")
                .code,
            0);
  ASSERT_EQ(run("bench scan --backend cpu --rung serial --no-peers --type i32 --op sum -n 1K --samples 4 "
                "--situation warm -o b.jsonl")
                .code,
            0);
  write("both.jsonl", read(folder_ / "a.jsonl") + read(folder_ / "b.jsonl"));
  const Outcome shown = run("report show both.jsonl");
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_NE(shown.out.find("inclusive=true, back_to_back"), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find(", warm"), std::string::npos) << shown.out;
  expect_error("report show both.jsonl --type i23", 2, "no type named 'i23'; did you mean 'i32'?");
  expect_error("report plot both.jsonl --type i23 -o x.svg", 2, "no type named 'i23'");
  expect_error("report show both.jsonl --type i16,i64", 2, "no record is of type i16 or i64");
}

// Standard output and standard error may be anything: a file that others write too, closed, full.
TEST_F(Cli, WhateverTheDescriptorsAre) {
  write_raw<std::int32_t>("in.raw", {3, -5, 10, 4});
  EXPECT_EQ(run("run scan in.raw --type i32 -o /dev/stdout --out-format raw | wc -c").out, "16\n");
  const Outcome group = run("run reduce in.raw --type i32 --out-format raw -o /dev/stdout; echo end", "echo begin;");
  EXPECT_EQ(group.code, 0) << group.err;
  EXPECT_EQ(group.out, std::string("begin\n") + '\x0c' + std::string(3, '\0') + "end\n");
  EXPECT_EQ(run("bench reduce --backend cpu --rung serial --no-peers -n 1K --samples 4 -o r.jsonl >&-").code, 2);
  for (const std::string& name : files()) EXPECT_EQ(read(folder_ / name).find("GB/s"), std::string::npos) << name;
  EXPECT_EQ(run("run saxpy in.raw --type i32 --with - <&-").code, 2);
  for (const char* where : {"2>&-", "2>/dev/full"}) {
    EXPECT_EQ(run(std::string("run reduce missing.raw --type i32 ") + where).code, 2) << where;
    EXPECT_EQ(run(std::string("run reduce in.raw --type i32 ") + where).out, "12\n") << where;
  }
  write("big.raw", std::string(1 << 20, 'x'));
  expect_error("run scan big.raw --type u8 -o out.npy", 2, "ulimit -f", "ulimit -f 100;");
  EXPECT_EQ(run("--help >help.txt", "ulimit -u 1;").code, 0);
}

#if defined(UPSWEEP_WITH_SIMT)
// Deliberate bugs that a few cases do not show, and rungs that have a launch shape of their own, are no wrong results.
TEST_F(Cli, OnlyWrongResultsAreWrong) {
  const Outcome check = run("check reduce --backend simt -n 1000 --rung uninitialised,total");
  EXPECT_EQ(check.code, 0) << check.out << check.err;
  EXPECT_NE(check.out.find("not caught by these cases"), std::string::npos) << check.out;
  const Outcome explain = run("explain reduce -n 2^12 --param block=128 --rung total,shares");
  EXPECT_EQ(explain.code, 0) << explain.out << explain.err;
  EXPECT_NE(explain.out.find("reduce/shares: not run: shares has a fixed block size"), std::string::npos)
      << explain.out;
}
#endif

#if defined(UPSWEEP_WITH_SIMT)
// Without parameters a primitive's own example is traced; those of the user take the place of its values.
TEST_F(Cli, ExplainHasAnExample) {
  const auto explained = [&](const std::string& params) {
    return run("explain render --rung tile_ballot" + params).out;
  };
  EXPECT_NE(explained("").find("n=3 input=rgb width=256 height=256:"), std::string::npos) << explained("");
  EXPECT_NE(explained(" --param width=32").find("n=3 input=rgb width=32 height=256:"), std::string::npos);
}

TEST_F(Cli, ExplainFailsWhereEveryRungRefuses) {
  const Outcome one = run("explain scan --rung lookback,padded -n 1000 --param block=96");
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_NE(one.out.find("not run"), std::string::npos) << one.out;
  const Outcome exact = run("explain render --rung list_ends,list_parts -n 100");
  EXPECT_EQ(exact.code, 0) << exact.err;
  EXPECT_NE(exact.out.find("render/list_parts: not run: "), std::string::npos) << exact.out;
  const Outcome all = run("explain scan --rung padded -n 1000 --param block=96");
  EXPECT_NE(all.code, 0);
  EXPECT_NE(all.err.find("every rung refuses this case"), std::string::npos) << all.err;
}
#endif

TEST_F(Cli, InterruptedRecordsAreKept) {
  write("r.jsonl", "old");
  // It says so even if that takes a second, because whoever reads its messages is slow: a full pipe, emptied late.
  const Outcome outcome =
      run("bench reduce --backend cpu --no-peers -n 2^10..2^24 --samples 1000 -o r.jsonl 2>&3 & "
          "while kill -0 $! && ! grep -q simd .upsweep-*.tmp 2>/dev/null; do sleep 0.1; done; kill -TERM $!; sleep 1; "
          "timeout 2 cat <&3 >said.txt; wait $!; tr -d '\\0' <said.txt >&2; rm said.txt pipe",
          "mkfifo pipe; exec 3<>pipe; timeout 1 cat /dev/zero >&3; UPSWEEP_PROGRESS=1000");
  EXPECT_EQ(read(folder_ / "r.jsonl"), "old");
  const std::string kept = read(folder_ / "r.jsonl.partial");
  EXPECT_NE(kept.find("\"rung\":\"simd\""), std::string::npos);
  EXPECT_TRUE(kept.ends_with('\n'));
  EXPECT_NE(outcome.err.find("r.jsonl.partial"), std::string::npos) << outcome.err;
  EXPECT_EQ(files().size(), 2u);
}

TEST_F(Cli, RendersScenesAndFiles) {
  const Outcome drawn = run("render rgb --size 40x30 --check -o a.png");
  EXPECT_EQ(drawn.code, 0) << drawn.err;
  EXPECT_NE(drawn.err.find("check: 0 of 4800 numbers differ"), std::string::npos) << drawn.err;
  EXPECT_TRUE(read(folder_ / "a.png").starts_with("\x89PNG"));
  write("points.csv", "x,y,radius,red\n0.5,0.5,0.2,1\n0.4,0.5,0.1,0\n");
  EXPECT_EQ(run("render points.csv --size 8 --view 0,0,0.5,0.5 --background '#ff8000' --alpha 0.25 -o b.ppm").code, 0);
  EXPECT_EQ(read(folder_ / "b.ppm").size(), std::string("P6\n8 8\n255\n").size() + 3 * 8 * 8);
  EXPECT_TRUE(run("render hypnosis --size 4 -o -").out.starts_with("\x89PNG"));
  EXPECT_NE(run("render points.csv --size 8 --bench").err.find("a picture, from the device's memory"),
            std::string::npos);

  expect_error("render rand10", 2, "no scene named 'rand10'; did you mean 'rand10k'?");
  expect_error("render rgb --size 0x4", 2, "--size 0x4 is not a size");
  expect_error("render rgb --view 1,2,3", 2, "--view 1,2,3: 4 numbers are needed");
  expect_error("render rgb -o c.jpg", 2, "no image format has this ending");
  expect_error("render rgb -o nowhere/c.png", 2, "nowhere/c.png");
  write("bad.csv", "x,y,radius\n0.5,0.5,nan\n");
  expect_error("render bad.csv -o c.png", 2, "bad.csv: line 2, column 3 (radius): nan is not finite");
  EXPECT_FALSE(fs::exists(folder_ / "c.png"));
}

// The picture as rows of characters: '.' where it is white.
std::vector<std::string> rows_of_ppm(const std::string& ppm, std::size_t width, std::size_t height) {
  const std::size_t header = ppm.size() - 3 * width * height;
  std::vector<std::string> rows(height, std::string(width, '.'));
  for (std::size_t pixel = 0; pixel < width * height; ++pixel)
    if (ppm.compare(header + 3 * pixel, 3, "\xff\xff\xff") != 0) rows[pixel / width][pixel % width] = '#';
  return rows;
}

TEST_F(Cli, CirclesAreRound) {
  write("one.csv", "x,y,radius\n0.5,0.5,0.5\n");
  const auto drawn = [&](const std::string& options) {
    EXPECT_EQ(run("render one.csv --size 12x6 -o a.ppm " + options).code, 0) << options;
    std::string all;
    for (const std::string& row : rows_of_ppm(read(folder_ / "a.ppm"), 12, 6)) all += row + "\n";
    return all;
  };
  const std::string round =
      "....####....\n"
      "...######...\n"
      "...######...\n"
      "...######...\n"
      "...######...\n"
      "....####....\n";
  EXPECT_EQ(drawn(""), round);
  EXPECT_EQ(drawn("--aspect fit"), round);
  EXPECT_EQ(drawn("--aspect stretch").substr(0, 13), "...######...\n");
  EXPECT_EQ(drawn("--aspect stretch").substr(26, 13), "############\n");
  EXPECT_EQ(drawn("--aspect fill").substr(0, 26), ".##########.\n############\n");
  EXPECT_EQ(drawn("--view 0,0,0.5,0.5").substr(0, 13), ".......####.\n");
  expect_error("render rgb --aspect wide", 2, "no aspect named 'wide'");
}

TEST_F(Cli, SmallCirclesOfAPlotAreSeen) {
  write("stars.csv", "x,y,radius\n0.21,0.21,0.0001\n0.6,0.7,0\n");
  write("stars.json", "[[0.21,0.21,0,0.0001,0,0,0,1],[0.6,0.7,0,0,0,0,0,1]]");
  const auto count = [&](const std::string& what) {
    EXPECT_EQ(run("render " + what + " --size 10 -o a.ppm").code, 0) << what;
    std::size_t dark = 0;
    for (const std::string& row : rows_of_ppm(read(folder_ / "a.ppm"), 10, 10))
      dark += static_cast<std::size_t>(std::count(row.begin(), row.end(), '#'));
    return dark;
  };
  EXPECT_GE(count("stars.csv"), 2u);
  EXPECT_GE(count("stars.json"), 2u);
  EXPECT_EQ(count("stars.csv --min-radius-px 0"), 0u);
  EXPECT_GT(count("stars.csv --min-radius-px 2"), 16u);
  expect_error("render stars.csv --min-radius-px -1", 2, "is not a number from 0");
}

TEST_F(Cli, ColoursAreZeroToOne) {
  expect_error("render rgb --background 32,32,32 -o a.png", 2, "of 255, that is '#202020'");
  expect_error("render rgb --background -1,0,0 -o a.ppm", 2, "colours are 0 to 1");
  expect_error("render rgb --background transparent -o a.png", 2, "no transparent pixels");
  expect_error("render rgb --background mauve -o a.png", 2, "'mauve' is not a colour");
  EXPECT_EQ(run("render rgb --size 4 --background 32,32,32 -o a.pfm").code, 0);
  for (const char* colour : {"'#000'", "Black", "'#000000'", "0,0,0"}) {
    EXPECT_EQ(run(std::string("render rgb --size 4 -o a.ppm --background ") + colour).code, 0) << colour;
    EXPECT_EQ(read(folder_ / "a.ppm").substr(11, 3), std::string(3, '\0')) << colour;
  }
  write("bright.csv", "x,y,radius,red\n0.5,0.5,0.5,255\n");
  expect_error("render bright.csv -o a.png", 2, "line 2, column 4 (red): 255 is not in [0, 1]");
  EXPECT_EQ(run("render bright.csv --size 4 -o a.pfm").code, 0);
}

TEST_F(Cli, RenderSaysWhatItLeavesOut) {
  write("empty.csv", "x,y,radius\n");
  const Outcome empty = run("render empty.csv --size 4 -o a.png");
  EXPECT_EQ(empty.code, 0);
  EXPECT_TRUE(empty.err.starts_with("no circles in empty.csv; the picture is the background\n")) << empty.err;
  write("two.csv", "id,x,y,radius,\x1b[2J\n1,0.5,0.5,0.5,0\n2,0.5,0.5,0.5,0\n");
  const Outcome two = run("render two.csv --size 4 -n 1 -o a.png");
  EXPECT_TRUE(two.err.starts_with("two.csv: skipped the columns 'id', '\\x1b[2J'\n1 circles,")) << two.err;
  EXPECT_TRUE(run("render - --size 4 -n 1 -o a.png <two.csv").err.find("1 circles") != std::string::npos);
  expect_error("render two.csv -n 3", 2, "-n 3 is beyond the end of two.csv, which holds 2 circles");
  expect_error("render two.csv --seed 1", 2, "the circles of a file are not random");
  expect_error("render two.csv --frames 0:2 -o a%d.png", 2, "the circles of a file stand still");
  expect_error("render rgb --seed 1", 2, "the circles of rgb are not random");
  write("map.csv", "x,y,radius\n300,200,10\n310,220,5\n");
  EXPECT_NE(run("render map.csv --size 4").err.find("outside of the view, in --view 290,190,315,225"),
            std::string::npos);
  EXPECT_EQ(run("render map.csv --size 4 --view 290,190,315,225").err.find("outside"), std::string::npos);
  expect_error("render rgb --snow", 2, "--snow shades the circles of a file");
  expect_error("render snowsingle --background black", 2, "shades of its own");
  expect_error("render rgb --memory 1M", 2, "--memory limits what a GPU uses");
#if defined(UPSWEEP_WITH_SIMT)
  const std::string limited = "render rand10k -n 2000 --size 8 --backend simt --memory 1M ";
  expect_error(limited + "--rung pixel -o a.png", 2, "--memory: pixel takes no limit (leave it out; these take one: ");
  expect_error(limited + "--rung pixle -o a.png", 2, "render has no rung 'pixle'");
  for (const char* rung : {"--rung binned", "--rung bit_columns", "--rung list_ends", ""}) EXPECT_EQ(run(limited + rung).code, 0) << rung;
#endif
  expect_error("render rgb --coverage -o a.png", 2, "--coverage: a.png does not keep it");
  expect_error("render rgb --fast --eps 0.1", 2, "--eps");
  expect_error("render snow --frames 0:2 --min-radius-px 1", 2, "--min-radius-px is for one picture");
  expect_error("render rgb --size 100000x100000", 2, "a side has at most 65536 pixels");
  expect_error("render rgb --size 99999999999", 2, "a side has at most 65536 pixels");
  expect_error("render rgb --view 266,-29,266.000000000001,-28", 2, "the numbers of f64 are 5.7e-14 apart");
  expect_error("render rgb --view 1,0,0,1", 2, "empty, reversed");
}

TEST_F(Cli, RendersFilms) {
  const Outcome drawn = run("render bouncingballs --frames 8:11 --size 20x10 --check -o f%03d.png");
  EXPECT_EQ(drawn.code, 0) << drawn.err;
  EXPECT_NE(drawn.err.find("3 frames of 10 circles"), std::string::npos) << drawn.err;
  EXPECT_EQ(files(), (std::vector<std::string>{"f008.png", "f009.png", "f010.png"}));
  EXPECT_NE(read(folder_ / "f008.png"), read(folder_ / "f010.png"));

  // A header, and for each frame its name and three bytes a pixel; a range of the same film has the same frames.
  const std::string header = "YUV4MPEG2 W20 H10 F60:1 Ip A1:1 C444\n";
  const std::string film = run("render hypnosis --frames 0:4 --size 20x10 -o -").out;
  constexpr std::size_t frame = 6 + 3 * 20 * 10;
  ASSERT_EQ(film.size(), header.size() + 4 * frame);
  EXPECT_TRUE(film.starts_with(header + "FRAME\n"));
  EXPECT_EQ(static_cast<unsigned char>(film[header.size() + 6]), 235);  // white
  EXPECT_EQ(run("render hypnosis --frames 2:4 --size 20x10 -o film.y4m").code, 0);
  EXPECT_EQ(read(folder_ / "film.y4m"), header + film.substr(header.size() + 2 * frame));

  // Interrupted, it leaves whole frames alone.
  run("render snow --frames 0:100000 -n 300 --size 64 -o g%d.png & "
      "while kill -0 $! && [ ! -e g2.png ]; do sleep 0.01; done; kill -TERM $!; wait $!");
  for (const std::string& name : files()) {
    EXPECT_TRUE(name.ends_with(".png") || name == "film.y4m") << name;
    EXPECT_TRUE(name.ends_with(".y4m") || read(folder_ / name).find("IEND") != std::string::npos) << name;
  }

  expect_error("render rgb --frames 0:4 -o a%d.png", 2, "the scene 'rgb' stands still");
  expect_error("render snow --frames 4:4 -o a%d.png", 2, "--frames 4:4 is not a range of frames");
  expect_error("render snow --frames 0:2 --bench", 2, "--bench times one picture");
  expect_error("render snow --frames 0:2 -o a.png", 2, "a.png has no place for their numbers");
  expect_error("render snow --frames 0:2 -o a%s.png", 2, "has no place for their numbers");
}

TEST_F(Cli, RunOnTheUsersData) {
  write_raw<std::int32_t>("in.raw", {3, -5, 10, 4});
  EXPECT_EQ(run("run reduce in.raw --type i32").out, "12\n");
  EXPECT_EQ(run("run reduce in.raw --type i32 --op max").out, "10\n");
  EXPECT_EQ(run("run reduce in.raw --type i32 --op min --rung serial").out, "-5\n");
  EXPECT_EQ(run("run reduce - --type i32 <in.raw").out, "12\n");
  write_raw<double>("big.raw", {1e300, 1, -1e300});
  EXPECT_EQ(run("run reduce big.raw --type f64 --rung reproducible").out, "1\n");

  const Outcome to_file = run("run reduce in.raw --type i32 -o out.npy");
  EXPECT_EQ(to_file.code, 0) << to_file.err;
  EXPECT_EQ(to_file.out, "");
  EXPECT_EQ(run("run reduce out.npy").out, "12\n");
}

TEST_F(Cli, ScansFilesChunkAfterChunk) {
  write_raw<std::int32_t>("in.raw", {3, -5, 10, 4});
  EXPECT_EQ(run("run scan in.raw --type i32").out, "0\n3\n-2\n8\n");
  EXPECT_EQ(run("run scan in.raw --type i32 --op max --param inclusive=1").out, "3\n3\n10\n10\n");
  EXPECT_EQ(run("run scan in.raw --type i32 --op max --param inclusive=true").out, "3\n3\n10\n10\n");
  expect_error("run scan in.raw --type i32 --rung reproducible -o x.npy", 2, "reproducible");  // float sums only
  expect_error("run scan in.raw --type i32 --rung std::scan", 2, "no rung named 'std::scan'");
#if defined(UPSWEEP_WITH_SIMT)
  expect_error("bench scan --backend cpu --rung pipeline", 2, "it runs on simt");
#endif

  // More than two chunks, and not a multiple of a chunk.
  std::vector<std::uint64_t> in(10'000'001), exclusive(in.size()), inclusive(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = i * 0x9e3779b97f4a7c15u;
  std::exclusive_scan(in.begin(), in.end(), exclusive.begin(), std::uint64_t{0});
  std::inclusive_scan(in.begin(), in.end(), inclusive.begin());
  write_raw("large.raw", in);
  ASSERT_EQ(run("run scan large.raw --type u64 -o exclusive.raw").code, 0);
  ASSERT_EQ(run("run scan large.raw --type u64 -o inclusive.raw --param inclusive=1 --rung serial").code, 0);
  const auto holds = [&](const std::string& name, const std::vector<std::uint64_t>& values) {
    const std::string bytes = read(folder_ / name);
    return bytes.size() == values.size() * sizeof(std::uint64_t) &&
           std::memcmp(bytes.data(), values.data(), bytes.size()) == 0;
  };
  EXPECT_TRUE(holds("exclusive.raw", exclusive));
  EXPECT_TRUE(holds("inclusive.raw", inclusive));
}

// An option that would change nothing is a mistake.
TEST_F(Cli, OptionsThatAModeDoesNotRead) {
  write_raw<std::int32_t>("in.raw", {3, -5, 10, 4});
  for (const char* arguments :
       {"report show a.jsonl --check", "report show a.jsonl -o x", "report show a.jsonl --channels 3",
        "report show a.jsonl --results x", "report readme README.md --type f32", "report readme README.md -o x",
        "report readme README.md --channels 1", "report plot a.jsonl --results x", "report plot a.jsonl --channels 3",
        "report plot a.npy --type f32"})
    expect_error(arguments, 2, "does not read -");
  expect_error("check reduce --backend cpu --schedule 3", 2, "--schedule is of the emulators");
#if defined(UPSWEEP_WITH_SIMT)
  expect_error("check reduce --backend simt --peers", 2, "the emulators have no peers");
#endif
  expect_error("check reduce --backend cpu -n 10 --seed 3", 2, "--seed: nothing is drawn at random");
#if defined(UPSWEEP_WITH_SIMT)
  expect_error("check reduce --backend simt -n 10 --fresh 3", 2, "--fresh is of the CPU and GPUs");
#endif
  for (const char* lines : {"--json", "--format csv", "-o -"})
    expect_error(std::string("bench reduce --backend cpu --story ") + lines, 2, "there are none");
  expect_error("bench reduce --backend cpu --rung serial --from-host", 2, "none of these rungs takes arrays in host");
  for (const char* arguments :
       {"saxpy in.raw --with in.raw --param inplace=true", "select in.raw --param share=0.5",
        "sort in.raw --param distinct=3", "select in.raw --param run_length=3", "segmented_scan in.raw --with in.raw --param length=3"})
    expect_error(std::string("run ") + arguments + " --type i32 -o x.npy", 2, "shapes inputs that the laboratory");
  expect_error("run sort in.raw --type i32 --param float_order=total_order -o x.npy", 2, "'float_order' is of floats");
  EXPECT_EQ(run("run sort in.raw --type f32 --param float_order=total_order -o x.raw").code, 0);
  expect_error("run render in.raw --type f32", 2, "render cannot be run on files (upsweep render draws them)");
  expect_error("run ceiling in.raw --type f32", 2, "(see upsweep bench)");
}

// A hint names rungs that take the case, if there are any.
TEST_F(Cli, RungsThatDoNotTakeTheType) {
  write_raw<std::int32_t>("in.raw", {3, -5, 10, 4});
  const Outcome reproducible = run("run scan in.raw --type i32 --rung reproducible");
  EXPECT_NE(reproducible.err.find("scan/reproducible does not take the sum of i32 (these do: serial"),
            std::string::npos)
      << reproducible.err;
#if defined(UPSWEEP_WITH_SIMT)
  write_raw<std::uint64_t>("wide.raw", {3, 5, 10, 4});
  expect_error("run reduce wide.raw --type u64 --op max --backend simt --rung total", 2,
               "no rung of reduce takes max of u64 (of u64 it takes sum)");
#endif
}

TEST_F(Cli, RunSegmentedScansOfFiles) {
  write_raw<std::int32_t>("in.raw", {1, 2, 3, 4, 5, 6});
  write_raw<std::uint8_t>("flags.raw", {0, 0, 9, 0, 0, 1});
  write_raw<std::uint32_t>("keys.raw", {7, 7, 1, 1, 1, 7});
  write_raw<std::uint64_t>("offsets.raw", {0, 2, 5, 6});
  const std::string scan = "run segmented_scan in.raw --type i32 --with ";
  for (const char* heads : {"flags.raw", "flags.raw --param heads=flags", "keys.raw --param heads=keys",
                            "offsets.raw --param heads=offsets"})
    EXPECT_EQ(run(scan + heads).out, "0\n1\n0\n3\n7\n0\n") << heads;
  EXPECT_EQ(run(scan + "keys.raw --param heads=keys,inclusive=true --op max").out, "1\n2\n3\n4\n5\n6\n");
  expect_error("run segmented_scan in.raw --type i32 -o x.npy", 2, "needs another input: flags");
  expect_error("run segmented_scan in.raw --type i32 --param heads=offsets -o x.npy", 2, "--with offsets.npy");
  write_raw<std::uint64_t>("down.raw", {0, 5, 3});
  expect_error(scan + "down.raw --param heads=offsets -o x.npy", 2, "offset 2, 3, is below the one before it, 5");
  write_raw<std::uint64_t>("beyond.raw", {0, 7});
  expect_error(scan + "beyond.raw --param heads=offsets -o x.npy", 2, "offset 1, 7, is beyond the 6 elements");
  write_raw<std::int32_t>("none.raw", {});
  write_raw<std::uint64_t>("zero.raw", {0});
  EXPECT_EQ(run("run segmented_scan none.raw --type i32 --param heads=offsets --with zero.raw").code, 0);
  EXPECT_FALSE(fs::exists(folder_ / "x.npy"));

  // Chunks of 1 MiB: some end where a segment does, some within one, and one segment spans several. More offsets than
  // are read at a time.
  const std::size_t chunk = (1 << 20) / sizeof(std::uint64_t), n = 20 * chunk + 77;
  std::vector<std::uint64_t> in(n), exclusive(n), inclusive(n), offsets;
  std::vector<std::uint8_t> flags(n);
  std::vector<std::uint32_t> keys(n);
  std::uint64_t sum = 0, state = 1;
  for (std::size_t i = 0; i < n; ++i) {
    in[i] = i * 0x9e3779b97f4a7c15u;
    state = state * 6364136223846793005u + 1442695040888963407u;
    const bool within = i > 5 * chunk + 9 && i < 9 * chunk + 9;
    const bool head = i % chunk == 0 ? i / chunk % 2 == 0 : !within && state >> 63;
    flags[i] = head && i > 0;
    if (flags[i] || i == 0) offsets.push_back(i), sum = 0;
    keys[i] = static_cast<std::uint32_t>(offsets.size() % 3);
    exclusive[i] = sum;
    inclusive[i] = sum += in[i];
  }
  offsets.push_back(n);
  ASSERT_GT(offsets.size() * sizeof offsets[0], std::size_t{8} << 20);
  write_raw("in.raw", in), write_raw("flags.raw", flags);
  write_raw("keys.raw", keys), write_raw("offsets.raw", offsets);
  for (const std::string heads : {"flags", "keys", "offsets"})
    for (const bool is_inclusive : {false, true}) {
      const Outcome outcome =
          run("run segmented_scan in.raw --type u64 --memory 1M -o out.raw --with " + heads + ".raw --param heads=" +
              heads + (is_inclusive ? ",inclusive=true" : ""));
      ASSERT_EQ(outcome.code, 0) << outcome.err;
      EXPECT_TRUE(read_raw<std::uint64_t>("out.raw") == (is_inclusive ? inclusive : exclusive)) << heads;
    }
}

// Sums of integers wrap in their type: it is said, and a wider type is to be had.
TEST_F(Cli, RunInAWiderType) {
  write_raw("ones.raw", std::vector<std::uint8_t>(300, 1));
  const Outcome narrow = run("run scan ones.raw --type u8 -o out.raw");
  EXPECT_EQ(narrow.code, 0);
  EXPECT_EQ(narrow.err, "upsweep: the sum at element 256 is beyond u8 and has wrapped (--out-type u64 computes in a "
                        "wider type)\n");
  for (const char* type : {"u16", "i16", "u32", "i64", "u64", "f32", "f64"}) {
    const Outcome wide = run(std::string("run scan ones.raw --type u8 --param inclusive=1 --out-type ") + type);
    EXPECT_TRUE(wide.out.ends_with("\n299\n300\n")) << type << wide.out;
    EXPECT_EQ(wide.err, "") << type;
  }
  EXPECT_EQ(run("run reduce ones.raw --type u8 --out-type u32").out, "300\n");
  EXPECT_EQ(run("run segmented_scan ones.raw --type u8 --with ones.raw --out-type u64 -n 2").out, "0\n0\n");
  write_raw<std::int8_t>("signs.raw", {-128, -128, 127});
  EXPECT_EQ(run("run scan signs.raw --type i8 --out-type i16 --param inclusive=1").out, "-128\n-256\n-129\n");
  EXPECT_EQ(run("run scan signs.raw --type i8 --out-type i64 -o wide.npy").code, 0);
  EXPECT_EQ(run("run reduce wide.npy --op min").out, "-256\n");
  EXPECT_NE(run("run scan signs.raw --type i8 --param inclusive=1").err.find("at element 1 is"), std::string::npos);
  EXPECT_EQ(run("run scan signs.raw --type i8 -n 2").err, "") << "an exclusive scan leaves out the last element";

  expect_error("run reduce ones.raw --type u8 -o x.npy", 2, "--out-type i32, u32, i64, u64, f32, f64");
  expect_error("run scan ones.raw --type u8 --out-type i8 -o x.npy", 2, "wider types: i16 u16 i32 u32 i64 u64 f32 f64");
  expect_error("run scan signs.raw --type i8 --out-type u64 -o x.npy", 2, "does not convert i8 to it without loss");
  expect_error("run sort ones.raw --type u8 --out-type u16 -o x.npy", 2, "sort is not computed in another type");
  expect_error("run scan ones.raw --type u8 --out-type u65 -o x.npy", 2, "no type named 'u65'");

  // A reduction's result alone counts, not the sums on the way.
  write_raw<std::int32_t>("there_and_back.raw", {2147483647, 1, -1});
  EXPECT_EQ(run("run reduce there_and_back.raw --type i32").err, "");
  EXPECT_NE(run("run reduce there_and_back.raw --type i32 -n 2").err.find("the sum is beyond i32"), std::string::npos);
  write_raw<std::int64_t>("products.raw", {1'000'000'007, 1'000'000'009, -9, 2, 0});
  EXPECT_EQ(run("run reduce products.raw --type i64 --op product -n 3").err, "");
  EXPECT_NE(run("run reduce products.raw --type i64 --op product -n 4").err.find("the product is beyond i64"),
            std::string::npos);
  EXPECT_EQ(run("run reduce products.raw --type i64 --op product").err, "") << "0 is right";

  // The sum that wraps is the first of a chunk, and the conversion is by chunks too.
  std::vector<std::uint32_t> large((3 << 20) / 4, 1);
  large[(1 << 20) / 4 - 1] = 0xffffffff;
  write_raw("large.raw", large);
  EXPECT_NE(run("run scan large.raw --type u32 --memory 1M -o out.raw").err.find("at element 262144 is"),
            std::string::npos);
  EXPECT_EQ(run("run scan large.raw --type u32 --memory 1M --out-type u64 -o out.raw").err, "");
  EXPECT_EQ(read_raw<std::uint64_t>("out.raw").back(), 0xffffffffu + std::uint64_t{large.size()} - 2);
}

TEST_F(Cli, RunTakesWhatThePrimitiveTakes) {
  write_raw<std::int32_t>("in.raw", {3, -5, 10, 4});
  expect_error("run saxpy in.raw --with in.raw --type i32 --op unique", 2, "saxpy has no operations");
  expect_error("run scan in.raw --type i32 --op product", 2, "no op of scan named 'product'");
  expect_error("run scan in.raw --type i32 --op product", 2, "there are: sum min max");
  expect_error("run scan in.raw --type i32 --op summ", 2, "did you mean 'sum'?");
}

TEST_F(Cli, FormatsOfInputsAndOutputs) {
  const std::vector<std::int32_t> in{3, -5, 10, 4}, scanned{0, 3, -2, 8};
  write_raw("in.raw", in);
  const std::string raw(reinterpret_cast<const char*>(scanned.data()), scanned.size() * sizeof(std::int32_t));
  EXPECT_EQ(run("run scan in.raw --type i32 --out-format raw -o -").out, raw);
  const Outcome piped = run("run scan - --type i32 --out-format raw -o -", "cat in.raw |");
  EXPECT_EQ(piped.out, raw) << piped.err;
  EXPECT_TRUE(run("run scan in.raw --type i32 -o -").out.starts_with("\x93NUMPY"));
  EXPECT_TRUE(run("run scan in.raw --type i32 --format raw -o -").out.starts_with("\x93NUMPY")) << "of the input alone";
  EXPECT_EQ(run("run scan in.raw --type i32 --out-format npy -o out.NPY").code, 0);
  EXPECT_EQ(run("run reduce out.NPY").out, "9\n") << "the file name selects npy";
  expect_error("run scan in.raw --type i32 --out-format raw -o x.npy", 2, "x.npy is written as its name says");
  for (const char* format : {"raw", "npy"})
    expect_error(std::string("run scan in.raw --type i32 --out-format ") + format, 2, "nothing is written to a file");
  EXPECT_EQ(run("run select in.raw --type i32 --op run_length_encode --out-format raw -o v.npy --also counts").code, 0);
  EXPECT_EQ(read_raw<std::uint64_t>("counts"), (std::vector<std::uint64_t>{1, 1, 1, 1}));
  EXPECT_EQ(run("run reduce - --format npy -o sum --out-format npy <out.NPY").code, 0);
  EXPECT_EQ(run("run reduce sum").out, "9\n");
  expect_error("run reduce in.raw --type i32 --format npy", 2, "in.raw is not a .npy file");
  expect_error("run reduce in.raw --type i32 --format npz", 2, "did you mean 'npy'?");
  expect_error("run reduce in.raw --type i32 --out-format png", 2, "no format named 'png'");
  expect_error("run scan - --type i32 -o -", 2, "write raw binary", "cat in.raw |");
}

// Whatever a file is called, and in a pipe.
TEST_F(Cli, ContentDecidesWhatAnInputIs) {
  write_raw<std::uint32_t>("in.raw", {1, 2, 3, 4});
  ASSERT_EQ(run("run scan in.raw --type u32 --param inclusive=1 -o out.npy").code, 0);
  EXPECT_EQ(run("run reduce - --type u32", "cat out.npy |").out, "20\n");
  fs::rename(folder_ / "out.npy", folder_ / "out.bin");
  EXPECT_EQ(run("run reduce out.bin --type u32").out, "20\n");
  EXPECT_EQ(run("run saxpy in.raw --with - --type u32 --param a=0", "cat out.bin |").out, "1\n3\n6\n10\n");
  EXPECT_EQ(run("run reduce - --type u32 --format raw -n 2 <out.bin").out, "1297524707\n") << "what the header says";
  write("small", "P5 2 1 255\n\1\2");
  EXPECT_EQ(run("run scan - --type u8 --param inclusive=1", "cat small |").out, "1\n3\n");
  EXPECT_EQ(run("render rgb --size 4x4 -o T.PNG").code, 0);
  EXPECT_TRUE(read(folder_ / "T.PNG").starts_with("\x89PNG"));
  EXPECT_EQ(run("run histogram T.PNG --op direct --param bins=1").out,
            run("run histogram - --op direct --param bins=1", "cat T.PNG |").out);
  write("a.npz", "PK\3\4" + std::string(30, 'x'));
  expect_error("run reduce a.npz --type u8", 2, "take one array out");
  expect_error("run reduce - --type u8", 2, "standard input is a zip archive", "cat a.npz |");
  write("damaged.npy", "12345678");
  expect_error("run reduce damaged.npy --type u8", 2, "--format raw");
}

TEST_F(Cli, OrdersShapesAndTypesOfNpy) {
  const auto npy = [&](const std::string& name, const std::string& words, const std::string& data) {
    const std::string text = "{" + words + "}" + std::string(100 - words.size(), ' ') + "\n";
    write(name, std::string("\x93NUMPY\1\0", 8) + static_cast<char>(text.size()) + '\0' + text + data);
  };
  const auto header = [&](const std::string& name) {
    const std::string text = read(folder_ / name);
    return text.substr(0, text.find('}'));
  };
  npy("f.npy", "'descr': '<u4', 'fortran_order': True, 'shape': (2, 3)",
      std::string("\0\0\0\0\3\0\0\0\1\0\0\0\4\0\0\0\2\0\0\0\5\0\0\0", 24));
  EXPECT_EQ(run("run select f.npy --op unique").out, "0\n1\n2\n3\n4\n5\n") << "as a.ravel()";
  EXPECT_EQ(run("run reduce f.npy -n 3").out, "3\n");
  for (const char* order_free : {"reduce", "sort", "histogram --op direct --param bins=6"}) {
    const std::string command = std::string("run ") + order_free + " - ";
    const Outcome piped = run(command, "cat f.npy |");
    EXPECT_EQ(piped.code, 0) << piped.err;
    EXPECT_EQ(piped.out, run(command + "<f.npy").out) << order_free;
  }
  for (const char* order :
       {"scan -", "reduce - -n 3", "sort - --param indices=true --also i.npy", "sort - --param bits=1"})
    expect_error(std::string("run ") + order, 2, "is in Fortran order, and a pipe", "cat f.npy |");
  ASSERT_EQ(run("run scan f.npy -o out.npy").code, 0);
  EXPECT_NE(header("out.npy").find("'fortran_order': False, 'shape': (2, 3)"), std::string::npos) << header("out.npy");
  EXPECT_EQ(run("run scan f.npy --param inclusive=1").out, "0\n1\n3\n6\n10\n15\n");
  ASSERT_EQ(run("run saxpy f.npy --with f.npy --param a=1 -o out.npy").code, 0);
  EXPECT_NE(header("out.npy").find("(2, 3)"), std::string::npos) << header("out.npy");
  EXPECT_EQ(run("run select out.npy --op unique").out, "0\n2\n4\n6\n8\n10\n");
  for (const char* flat : {"scan f.npy -n 4", "sort f.npy"}) {
    ASSERT_EQ(run(std::string("run ") + flat + " -o out.npy").code, 0);
    EXPECT_NE(header("out.npy").find(",), }"), std::string::npos + 1) << header("out.npy");
  }
  npy("t.npy", "'descr': '<u4', 'fortran_order': False, 'shape': (3, 2)", std::string(24, '\0'));
  expect_error("run saxpy f.npy --with t.npy", 2, "t.npy has the shape (3, 2), not (2, 3) as f.npy");
  npy("big.npy", "'descr': '>i2', 'fortran_order': False, 'shape': (2,)", std::string("\0\1\xff\xff", 4));
  EXPECT_EQ(run("run sort big.npy").out, "-1\n1\n");
  npy("half.npy", "'descr': '<f2', 'fortran_order': False, 'shape': (2,)", std::string("\0\x3c\0\xc0", 4));
  EXPECT_EQ(run("run sort half.npy").out, "-2\n1\n");
  npy("mask.npy", "'descr': '|b1', 'fortran_order': False, 'shape': (2,)", std::string("\0\1", 2));
  EXPECT_EQ(run("run select half.npy --op select_flagged --with mask.npy").out, "-2\n");
  EXPECT_EQ(run("run scan mask.npy --param inclusive=1").out, "0\n1\n");
}

TEST_F(Cli, AnInputThatIsTheOutput) {
  write_raw<std::uint32_t>("x.bin", {1, 2, 3});
  const std::string before = read(folder_ / "x.bin");
  for (const char* arguments : {"-o - --out-format raw >> x.bin", "-o /dev/stdout --out-format raw >> x.bin",
                                ">> x.bin", "-o - --out-format raw 1<> x.bin"}) {
    const Outcome outcome = run(std::string("run scan x.bin --type u32 ") + arguments);
    EXPECT_EQ(outcome.code, 2) << arguments;
    EXPECT_NE(outcome.err.find("the input is the output"), std::string::npos) << outcome.err;
    EXPECT_EQ(read(folder_ / "x.bin"), before) << arguments;
  }
  EXPECT_EQ(run("run scan x.bin --type u32 -o x.bin").code, 0) << "it is replaced at the end";
  EXPECT_EQ(run("run reduce x.bin --type u32").out, "4\n");
}

TEST_F(Cli, OneOutputInOnePlace) {
  write_raw<std::uint32_t>("x.bin", {3, 1, 2});
  const std::string sort = "run sort x.bin --type u32 --param indices=true ";
  for (const char* outputs : {"--also /dev/stdout", "-o - --also /dev/stdout", "-o /dev/stdout --also /dev/fd/1"})
    expect_error(sort + outputs, 2, "two outputs cannot both be");
  expect_error("run partition x.bin --type u32 --table -o /dev/stdout", 2, "two outputs cannot both be");
  const Outcome text_and_file = run(sort + "--also y.bin >y.bin");
  EXPECT_EQ(text_and_file.code, 2) << "the text would go where the file was";
  EXPECT_EQ(run(sort + "-o out.bin --also /dev/stdout | wc -c").out, "24\n");
}

TEST_F(Cli, NanIsNan) {
  write_raw<float>("x.bin", {-NAN, NAN, 1});
  EXPECT_EQ(run("run saxpy x.bin --with x.bin --type f32").out, "nan\nnan\n3\n");
  EXPECT_NE(run("run saxpy x.bin --with x.bin --type f32 --json").out.find(R"("result":["nan","nan",3])"),
            std::string::npos);
}

TEST_F(Cli, MessagesAreOneLineOfText) {
  const std::string name = "a\x1b[2J\nb.npy";
  write(name, "no array");
  const Outcome outcome = run("run reduce \"$(printf 'a\\033[2J\\nb.npy')\"");
  EXPECT_EQ(outcome.err.find('\x1b'), std::string::npos);
  EXPECT_NE(outcome.err.find("a\\x1b[2J\\nb.npy is not a .npy file"), std::string::npos) << outcome.err;
  expect_error("run reduce \"$(printf 'b\\033')\"", 2, "cannot read b\\x1b: No such file");
  expect_error("run scan --op \"$(printf 'b\\033')\" x", 2, "'b\\x1b'");
  EXPECT_LT(run("run reduce $(head -c 100000 /dev/zero | tr '\\0' x)").err.size(), 1000u);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which do not run under strace
// Two outputs, and signals between their renames, which strace delays.
TEST_F(Cli, SeveralOutputsAreReplacedTogether) {
  if (std::system("strace -e trace=none true >/dev/null 2>&1") != 0) GTEST_SKIP() << "no strace";
  const auto prepare = [&] {
    write_raw<std::uint32_t>("k.bin", {3, 2, 1});
    write_raw<std::uint32_t>("v.bin", {30, 20, 10});
    write("k.old", read(folder_ / "k.bin"));
  };
  // A journal for each output is renamed first, then the outputs.
  const auto traced = [](const std::string& injected) {
    return "strace -f -qq -o /dev/null -e trace=rename -e inject=rename:" + injected +
           ":when=4 sh -c 'echo $$ >pid; exec \"$0\" \"$@\"' ";
  };
  const std::string sort = "run sort k.bin --type u32 --param value_bytes=4 --with v.bin -o k.bin --also v.bin";
  const auto numbers = [&](const char* name) { return read_raw<std::uint32_t>(name); };
  for (const char* signals : {"kill -TERM $p", "kill -INT $p; sleep 0.1; kill -INT $p; kill -TERM $p"}) {
    prepare();
    const Outcome outcome = run(
        sort + " & while kill -0 $! && cmp -s k.bin k.old; do sleep 0.05; done; p=$(cat pid); " + signals + "; wait $!",
        traced("delay_enter=1500000"));
    EXPECT_EQ(outcome.code, 0) << "all is done: " << outcome.err;
    EXPECT_EQ(numbers("k.bin"), (std::vector<std::uint32_t>{1, 2, 3}));
    EXPECT_EQ(numbers("v.bin"), (std::vector<std::uint32_t>{10, 20, 30})) << signals;
    EXPECT_EQ(files(), (std::vector<std::string>{"k.bin", "k.old", "pid", "v.bin"}));
  }
  // Killed outright, it leaves what the next run finishes.
  prepare();
  EXPECT_NE(run(sort, traced("signal=KILL")).code, 0);
  EXPECT_EQ(numbers("k.bin"), (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_EQ(numbers("v.bin"), (std::vector<std::uint32_t>{30, 20, 10}));
  const Outcome next = run("run reduce k.bin --type u32");
  EXPECT_NE(next.err.find("v.bin has been replaced"), std::string::npos) << next.err;
  EXPECT_EQ(numbers("v.bin"), (std::vector<std::uint32_t>{10, 20, 30}));
  EXPECT_EQ(files(), (std::vector<std::string>{"k.bin", "k.old", "pid", "v.bin"}));
}
#endif

TEST_F(Cli, SaxpyOfTwoFiles) {
  write_raw<float>("x.raw", {1, -2, 3.5});
  write_raw<float>("y.raw", {10, 20, 30});
  EXPECT_EQ(run("run saxpy x.raw --with y.raw --type f32").out, "12\n16\n37\n");  // a=2
  EXPECT_EQ(run("run saxpy x.raw --with y.raw --type f32 --param a=-0.5").out, "9.5\n21\n28.25\n");
  EXPECT_EQ(run("run saxpy x.raw --with - --type f32 <y.raw").out, "12\n16\n37\n");
  EXPECT_EQ(run("run saxpy - --with y.raw --type f32 <x.raw").out, "12\n16\n37\n");
  EXPECT_EQ(run("run saxpy x.raw --with y.raw --type f32 -n 2").out, "12\n16\n");
  ASSERT_EQ(run("run saxpy x.raw --with y.raw --type f32 -o out.npy").code, 0);
  EXPECT_EQ(run("run saxpy x.raw --with out.npy --type f32 --param a=0").out, "12\n16\n37\n");

  // More than two chunks, and not a multiple of a chunk.
  std::vector<std::uint64_t> x(10'000'001), y(x.size()), expected(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = i * 0x9e3779b97f4a7c15u;
    y[i] = i * i;
    expected[i] = 3 * x[i] + y[i];
  }
  write_raw("x.raw", x);
  write_raw("y.raw", y);
  ASSERT_EQ(run("run saxpy x.raw --with y.raw --type u64 --param a=3 -o out.raw").code, 0);
  const std::string bytes = read(folder_ / "out.raw");
  ASSERT_EQ(bytes.size(), expected.size() * sizeof(std::uint64_t));
  EXPECT_EQ(std::memcmp(bytes.data(), expected.data(), bytes.size()), 0);
}

TEST_F(Cli, SaxpyThatCannotBe) {
  write_raw<float>("x.raw", {1, 2, 3});
  write_raw<float>("four.raw", {1, 2, 3, 4});
  write_raw<double>("f64.raw", {1, 2, 3});
  ASSERT_EQ(run("run saxpy f64.raw --with f64.raw --type f64 -o f64.npy").code, 0);
  const std::size_t before = files().size();
  const auto refused = [&](const std::string& arguments, const std::string& words, const std::string& input = "") {
    expect_error("run saxpy " + arguments + " --type f32 -o out.npy", 2, words, input);
    EXPECT_EQ(files().size(), before) << arguments;
  };
  refused("x.raw", "needs another input: y");
  refused("x.raw --with missing.raw", "missing.raw");
  refused("x.raw --with four.raw", "four.raw holds 4 elements, 3 are needed");
  refused("four.raw --with x.raw", "x.raw holds 3 elements, 4 are needed");
  refused("four.raw --with - ", "standard input has fewer elements than four.raw", "cat x.raw |");
  refused("x.raw --with - ", "standard input has more elements than x.raw", "cat four.raw |");
  refused("four.raw --with x.raw -n 4", "x.raw holds 3 elements, 4 are needed");
  refused("x.raw --with f64.npy", "f64.npy holds f64, not f32");
  refused("x.raw --with x.raw --with x.raw", "takes 2 inputs");
  refused("- --with -", "standard input");
  refused("x.raw --with x.raw --param a=two", "'a=two': a is of the elements' type, f32");
  expect_error("run reduce x.raw --with x.raw --type f32", 2, "takes 1 input");
  for (const char* a : {"2.5", "1e3", "2147483648"})
    expect_error(std::string("run saxpy x.raw --with x.raw --type i32 --param a=") + a, 2,
                 "a is of the elements' type, i32");
  expect_error("bench saxpy --backend cpu --from-host", 2, "no rung is left to time");
  expect_error("bench saxpy --param block=-1", 2, "block is a whole number from 1 to 1024");
}

TEST_F(Cli, HistogramsFromFiles) {
  write_raw<std::uint8_t>("bytes.raw", {0, 1, 1, 3, 3, 3, 9});
  EXPECT_EQ(run("run histogram bytes.raw --type u8 --op direct --param bins=4").out, "1\n2\n0\n3\n");
  EXPECT_EQ(run("run histogram bytes.raw --type u8 --param bins=2,lower=0,upper=4").out, "3\n3\n");
#if defined(UPSWEEP_WITH_SIMT)
  EXPECT_EQ(run("run histogram bytes.raw --type u8 --op even --param bins=4,lower=0,upper=4 --backend simt").out,
            "1\n2\n0\n3\n");
#endif
  ASSERT_EQ(run("run histogram bytes.raw --type u8 --op direct --param bins=4 -o counts.npy --also outside.npy").code,
            0);
  EXPECT_EQ(run("run reduce outside.npy").out, "1\n");
  write_raw<std::uint8_t>("edges.raw", {1, 3, 10});
  EXPECT_EQ(run("run histogram bytes.raw --type u8 --op edges --with edges.raw").out, "2\n4\n");
  write_raw<std::int32_t>("wide.raw", {-1, 3, 300});
  const std::string wide = "run histogram bytes.raw --type u8 --op edges --with wide.raw";
  EXPECT_EQ(run(wide + " --param edge_type=i32").out, "3\n4\n");
  write_raw<std::uint8_t>("bad.raw", {1, 3, 3});
  const std::size_t before = files().size();
  const auto refused = [&](const std::string& arguments, const std::string& words) {
    expect_error("run histogram bytes.raw --type u8 -o out.npy " + arguments, 2, words);
    EXPECT_EQ(files().size(), before) << arguments;
  };
  refused("--op edges", "needs another input: edges");
  refused("--op edges --with bad.raw", "edge 2, 3, is not above the one before it, 3");
  refused("--op edges --with edges.raw --param bins=3", "3 edges for 3 bins");
  refused("--param edge_type=i32", "edge_type without edges");
  refused("--param lower=4,upper=4", "the range from 4 to 4 is empty");
  refused("--param lower=300,upper=400", "contains no value of u8");
  refused("--param width=3", "gaps between rows");

  // An image says its channels. More than two chunks, whose ends lie inside a pixel; counters that saturate.
  std::ofstream(folder_ / "small.ppm", std::ios::binary) << "P6 2 1 255\n" << std::string("\0\1\2\0\2\2", 6);
  EXPECT_EQ(run("run histogram small.ppm --op direct --param bins=3").out, "2\n0\n0\n0\n1\n1\n0\n0\n2\n");
  const std::size_t pixels = 25'000'000;
  std::string rows(3 * pixels, '\0');
  for (std::size_t i = 0; i < rows.size(); i += 3) rows[i + 2] = i % 2 ? '\1' : '\3';
  std::ofstream(folder_ / "large.ppm", std::ios::binary) << "P6 25000 1000 255\n" << rows;
  EXPECT_EQ(run("run histogram large.ppm --op direct --param bins=4").out,
            "25000000\n0\n0\n0\n25000000\n0\n0\n0\n0\n12500000\n0\n12500000\n");
  EXPECT_EQ(run("run histogram large.ppm --op direct --param bins=4,counter=u8 -o counts.npy").code, 0);
  ASSERT_EQ(run("report plot counts.npy --channels 3 -o counts.svg").code, 0);
  EXPECT_NE(read(folder_ / "counts.svg").find("</svg>"), std::string::npos);
  expect_error("report plot counts.npy --channels 5", 2, "is not a whole number from 1 to 4");
}

TEST_F(Cli, SortsFiles) {
  write_raw<std::int32_t>("keys.raw", {3, -1, 2, -1});
  write("values.raw", "abcdefghijklmnop");
  const std::string sort = "run sort keys.raw --type i32";
  EXPECT_EQ(run(sort).out, "-1\n-1\n2\n3\n");
  EXPECT_EQ(run(sort + " --op descending --rung serial").out, "3\n2\n-1\n-1\n");
  EXPECT_EQ(run(sort + " --param bits=1").out, "2\n3\n-1\n-1\n");
  EXPECT_EQ(run(sort + " --param first_bit=31").out, "-1\n-1\n3\n2\n") << "all bits from there up";
  // Values of any type with 4 or 8 bytes; indices.
  const Outcome moved = run(sort + " --with values.raw --param value_bytes=4 -o out.raw --also moved.raw");
  EXPECT_EQ(moved.code, 0) << moved.err;
  EXPECT_EQ(read(folder_ / "moved.raw"), "efghmnopijklabcd");
  ASSERT_EQ(run(sort + " --param indices=true -o out.npy --also indices.npy").code, 0);
  EXPECT_EQ(run("run scan indices.npy --op max --param inclusive=1").out, "1\n3\n3\n3\n");
  EXPECT_EQ(run("run sort indices.npy --with out.npy -o sorted.npy --also back.raw").code, 0);
  EXPECT_EQ(read(folder_ / "back.raw"), read(folder_ / "keys.raw"));
  write("none.raw", "");
  EXPECT_EQ(run("run sort none.raw --type u8").out, "");

  write_raw<std::uint8_t>("bytes.raw", {1, 2, 3, 4});
  ASSERT_EQ(run("run scan bytes.raw --type u8 -o bytes.npy").code, 0);
  const std::size_t before = files().size();
  const auto refused = [&](const std::string& arguments, const std::string& words) {
    expect_error(sort + " -o not.npy " + arguments, 2, words);
    EXPECT_EQ(files().size(), before) << arguments;
  };
  refused("--param value_bytes=4", "needs another input: values");
  refused("--param value_bytes=16 --with values.raw", "values of 16 bytes cannot be read from a file");
  refused("--param indices=true,value_bytes=4", "both values and indices are asked for");
  refused("--param indices=true", "another output: indices");
  refused("--with bytes.npy", "the values are u8");
  refused("--param first_bit=8,bits=32", "32 bits from bit 8 on are beyond a key of 32 bits");
  refused("--param first_bit=32", "1 bits from bit 32 on are beyond a key of 32 bits");
  refused("--param bits=0", "bits is a whole number from 1 to 64");
  refused("--param distinct=3", "distinct shapes inputs");

  // More than two chunks, and not a multiple of a chunk.
  std::vector<double> keys(10'000'001);
  for (std::size_t i = 0; i < keys.size(); ++i)
    keys[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(i) * 2654435761u) % 1000;
  write_raw("large.raw", keys);
  // In memory, and a chunk at a time through a temporary file.
  for (const std::string memory : {"", " --memory 1 --temporary ."}) {
    ASSERT_EQ(run("run sort large.raw --type f64 --param indices=true -o out.raw --also indices.raw" + memory).code, 0);
    const auto out = read_raw<double>("out.raw");
    const auto indices = read_raw<std::uint64_t>("indices.raw");
    ASSERT_EQ(out.size(), keys.size());
    ASSERT_EQ(indices.size(), keys.size());
    // An assertion for each key would take a minute under the address sanitizer.
    const auto right = [&](std::size_t i) {
      return out[i] == keys[indices[i]] &&
             (i == 0 || out[i - 1] < out[i] || (out[i - 1] == out[i] && indices[i - 1] < indices[i]));
    };
    std::size_t first_wrong = 0;
    while (first_wrong < keys.size() && right(first_wrong)) ++first_wrong;
    ASSERT_EQ(first_wrong, keys.size());
    // Values; the sign alone is compared, so nothing moves, whatever the runs.
    ASSERT_EQ(run("run sort out.raw --type u64 --op descending --param first_bit=63,bits=1,value_bytes=8 --with "
                  "indices.raw -o twice.raw --also moved.raw" +
                  memory)
                  .code,
              0);
    EXPECT_EQ(read_raw<double>("twice.raw"), out);
    EXPECT_EQ(read_raw<std::uint64_t>("moved.raw"), indices);
  }
  // A run that fails leaves the file that was there.
  const std::string before_it = read(folder_ / "out.raw");
  expect_error("run sort large.raw --type f64 -o out.raw --memory 1 --temporary missing", 2,
               "temporary data in missing");
  EXPECT_EQ(read(folder_ / "out.raw"), before_it);
  expect_error(sort + " --memory 1K,1M", 2, "is not a size in bytes");
}

// Returns the most memory that a command was resident in, in bytes. It must succeed.
std::size_t peak_of(const fs::path& folder, const std::string& arguments) {
  const std::string command = "cd " + folder.string() + " && exec " + UPSWEEP_PROGRAM + " " + arguments +
                              " >stdout.txt 2>stderr.txt </dev/null";
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  int status = -1;
  rusage used{};
  EXPECT_EQ(wait4(child, &status, 0, &used), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << arguments << "\n" << read(folder / "stderr.txt");
  return static_cast<std::size_t>(used.ru_maxrss) * 1024;
}

// Of all primitives, with every kind of output: 16 MiB, and 32 more for what does not grow.
TEST_F(Cli, StaysWithinItsMemory) {
  if (under_sanitizer) GTEST_SKIP() << "a sanitizer takes memory of its own";
  std::vector<std::uint64_t> numbers(5'000'011);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = (i + 1) * 0x9E3779B97F4A7C15u;  // NaN among the floats
  write_raw("numbers.raw", numbers);
  write("half.raw", read(folder_ / "numbers.raw").substr(0, numbers.size() * 4));
  write_raw<std::uint32_t>("splitters.raw", {1u << 20, 1u << 28, 1u << 30});
  const std::size_t most = peak_of(folder_, "devices") + (std::size_t{48} << 20);
  for (const std::string arguments :
       {"sort numbers.raw --type u64", "sort numbers.raw --type u8 --param indices=true --also other.raw",
        "sort half.raw --type u32 --param value_bytes=8 --with numbers.raw --also other.raw",
        "sort numbers.raw --type f64 --param value_bytes=4 --with half.raw --also other.raw",
        "sort numbers.raw --type f32", "sort half.raw --type f32 --param indices=true --also other.raw",
        "sort numbers.raw --type u16 --rung serial", "sort half.raw --type i32 --rung lsd --op descending",
        "partition numbers.raw --type u64 --param bits=15",
        "partition half.raw --type u32 --param value_bytes=8 --with numbers.raw --also other.raw",
        "partition half.raw --type u32 --op splitters --with splitters.raw",
        "select half.raw --type u8 --op run_length_encode --also other.raw", "select half.raw --type u8",
        "scan half.raw --type i8", "saxpy half.raw --with half.raw --type f32"})
    EXPECT_LE(peak_of(folder_, "run " + arguments + " -o out.raw --memory 16M --temporary ."), most) << arguments;
  // Text takes several times its numbers' bytes.
  EXPECT_LE(peak_of(folder_, "run sort half.raw --type f32 --memory 16M --temporary ."), most);
}

// A place for temporary data that is full, and less memory than is asked for: the message names what would do.
TEST_F(Cli, NamesTheLimitsOfMemoryAndTemporaryData) {
  if (under_sanitizer) GTEST_SKIP() << "a sanitizer reserves addresses";
  write("large.raw", std::string(std::size_t{8} << 20, 'x'));
  expect_error("run sort large.raw --type u64 -o /dev/null --memory 1 --temporary .", 2, "--temporary",
               "trap '' XFSZ; ulimit -f 1024;");
  expect_error("run sort large.raw --type u8 --param indices=true -o /dev/null --also /dev/zero --memory 8G", 2,
               "--memory", "ulimit -v 400000;");
  EXPECT_EQ(run("run sort large.raw --type u8 -o /dev/null --temporary .", "ulimit -v 1000000;").code, 0);
}

// A folder for temporary data has to be one, whether it is needed or not.
TEST_F(Cli, TheFolderForTemporaryDataIsFoundFirst) {
  write_raw<std::int32_t>("in.raw", {3, -5, 10, 4});
  for (const std::string primitive : {"reduce", "scan", "sort", "histogram"}) {
    const std::string words = "run " + primitive + " in.raw --type i32 -o out.raw --temporary ";
    expect_error(words + "missing", 2, "cannot keep temporary data in missing");
    expect_error(words + "in.raw", 2, "cannot keep temporary data in in.raw");
    if (geteuid() != 0) expect_error(words + "/", 2, "cannot keep temporary data in /");
    EXPECT_EQ(files(), std::vector<std::string>{"in.raw"}) << primitive;
    EXPECT_EQ(run(words + ".").code, 0) << primitive;
    EXPECT_EQ(files(), (std::vector<std::string>{"in.raw", "out.raw"})) << primitive;
    fs::remove(folder_ / "out.raw");
  }
}

TEST_F(Cli, PartitionsFiles) {
  write_raw<std::uint32_t>("keys.raw", {0x300, 0x101, 0x302, 0x003});
  write("values.raw", "abcdefghijklmnop");
  write_raw<std::uint32_t>("splitters.raw", {0x100, 0x301});
  const std::string digit = "run partition keys.raw --type u32 --param first_bit=8,bits=2";
  const std::string by_splitters = "run partition keys.raw --type u32 --op splitters --with ";
  EXPECT_EQ(run(digit).out, "3\n257\n768\n770\n");
  EXPECT_EQ(run(digit + " --table").out, "bucket\toffset\tcount\n0\t0\t1\n1\t1\t1\n2\t2\t0\n3\t2\t2\n");
  EXPECT_EQ(run(by_splitters + "splitters.raw").out, "3\n768\n257\n770\n");
#if defined(UPSWEEP_WITH_SIMT)
  EXPECT_EQ(run(digit + " --backend simt").out, "3\n257\n768\n770\n");
#endif
  // Values of any type with 4 or 8 bytes, before the splitters; offsets as a file; a table while the keys go to a file.
  ASSERT_EQ(run("run scan values.raw --type f32 --param inclusive=1 --op max -o values.npy").code, 0);
  EXPECT_EQ(run(digit + " --with values.npy --also moved.npy --also offsets.npy -o out.npy").code, 0);
  EXPECT_EQ(run("run scan offsets.npy --op max --param inclusive=1").out, "0\n1\n2\n2\n4\n");
  EXPECT_EQ(run("run reduce moved.npy --op max").out, run("run reduce values.npy --op max").out);
  const Outcome both = run(by_splitters +
                           "values.raw --with splitters.raw --param value_bytes=4 --table -o out.raw "
                           "--also moved.raw");
  EXPECT_EQ(both.out, "bucket\toffset\tcount\n0\t0\t1\n1\t1\t2\n2\t3\t1\n") << both.err;
  EXPECT_EQ(read(folder_ / "moved.raw"), "mnopabcdefghijkl");
  EXPECT_EQ(run("run reduce out.raw --type u32 -n 1").out, "3\n");
  write("none.raw", "");
  EXPECT_EQ(run("run partition none.raw --type u64 --param bits=1 --table").out,
            "bucket\toffset\tcount\n0\t0\t0\n1\t0\t0\n");

  write_raw<std::uint8_t>("bytes.raw", {1, 2, 3, 4});
  ASSERT_EQ(run("run scan bytes.raw --type u8 -o bytes.npy").code, 0);
  write_raw<std::uint32_t>("bad.raw", {3, 3});
  const std::size_t before = files().size();
  const auto refused = [&](const std::string& arguments, const std::string& words) {
    expect_error("run partition keys.raw --type u32 -o not.npy " + arguments, 2, words);
    EXPECT_EQ(files().size(), before) << arguments;
  };
  refused("--op splitters", "needs another input: splitters");
  refused("--op splitters --with bad.raw", "splitter 1, 3, is not above the one before it, 3");
  refused("--param value_bytes=4", "needs another input: values");
  refused("--param value_bytes=16 --with values.raw", "values of 16 bytes cannot be read from a file");
  refused("--with bytes.npy", "the values are u8");
  refused("--with values.npy", "another output: values");
  refused("--param first_bit=25", "beyond a key of 32 bits");
  refused("--param bits=16", "bits is a whole number from 1 to 15");
  refused("--param distinct=3", "distinct shapes inputs");
  expect_error("run partition keys.raw --type u32 --table -o -", 2, "both be standard output");
  expect_error("run partition keys.raw --type i32", 2, "a.view('u4')");
  expect_error("run reduce keys.raw --type u32 --table", 2, "reduce has no table");

  // More than two chunks, and not a multiple of a chunk.
  std::vector<std::uint64_t> keys(10'000'001);
  std::vector<std::uint32_t> numbers(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = i * 0x9e3779b97f4a7c15u;
  std::iota(numbers.begin(), numbers.end(), 0u);
  write_raw("large.raw", keys);
  write_raw("input.raw", numbers);
  std::vector<std::uint64_t> moved(keys.size()), offsets(17);
  for (const std::uint64_t key : keys) ++offsets[(key >> 60) + 1];
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  std::vector<std::uint64_t> next = offsets;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::uint64_t place = next[keys[i] >> 60]++;
    moved[place] = keys[i], numbers[place] = static_cast<std::uint32_t>(i);
  }
  const auto holds = [&](const std::string& name, const auto& values) {
    const std::string bytes = read(folder_ / name);
    return bytes.size() == values.size() * sizeof values[0] &&
           std::memcmp(bytes.data(), values.data(), bytes.size()) == 0;
  };
  // In memory, and a chunk at a time through a temporary file.
  for (const std::string memory : {"", " --memory 1 --temporary ."}) {
    ASSERT_EQ(run("run partition large.raw --type u64 --with input.raw --param first_bit=60,bits=4,value_bytes=4 "
                  "-o out.raw --also moved.raw --also offsets.raw" +
                  memory)
                  .code,
              0);
    EXPECT_TRUE(holds("out.raw", moved));
    EXPECT_TRUE(holds("moved.raw", numbers));
    EXPECT_TRUE(holds("offsets.raw", offsets));
  }
}

// With no primitive named, those that take none of the types are left out.
TEST_F(Cli, TypesThatAPrimitiveDoesNotTake) {
  const Outcome checked = run("check --backend cpu --type i8 -n 1,100 --rung serial");
  EXPECT_EQ(checked.code, 0) << checked.err;
  EXPECT_NE(checked.out.find("scan/serial"), std::string::npos);
  EXPECT_EQ(checked.out.find("partition/serial"), std::string::npos);
  expect_error("check partition --backend cpu --type i8", 2, "partition does not take type i8");
  expect_error("check --backend cpu --type i9", 2, "'i9'");
}

TEST_F(Cli, SelectsFromFilesChunkAfterChunk) {
  write_raw<std::int32_t>("in.raw", {5, 5, 5, -2, 7, 7, -2});
  EXPECT_EQ(run("run select in.raw --type i32").out, "0\n1\n4\n");
  EXPECT_EQ(run("run select in.raw --type i32 --op unique").out, "5\n-2\n7\n-2\n");
  EXPECT_EQ(run("run select in.raw --type i32 --op select_if --param below=6").out, "5\n5\n5\n-2\n-2\n");
  EXPECT_EQ(run("run select in.raw --type i32 --op select_if --param below=-1").out, "-2\n-2\n");
  const auto none = run("run select in.raw --type i32 --op select_if --param below=-9");
  EXPECT_EQ(none.code, 0);
  EXPECT_EQ(none.out, "");
  write_raw<std::uint8_t>("flags.raw", {0, 1, 0, 9, 0, 0, 255});
  EXPECT_EQ(run("run select in.raw --with flags.raw --type i32 --op select_flagged").out, "5\n-2\n-2\n");
  expect_error("run select in.raw --type i32 --op select_flagged -o x.npy", 2, "needs another input: flags");
  expect_error("run select in.raw --type i32 --op select_flagged -o x.npy", 2, "--with flags.npy");
  expect_error("run select in.raw --type i32 --op run_length_encode -o x.npy", 2, "another output: lengths");
  expect_error("run select in.raw --type i32 --op run_length_encode -o x.npy --also x.npy", 2, "both be x.npy");
  expect_error("run select in.raw --type i32 --op run_length_encode -o x.npy --also ./x.npy", 2, "both be ./x.npy");
  expect_error("run select in.raw --type i32 --op run_length_encode -o here/x.npy --also x.npy", 2, "both be x.npy",
               "ln -sfn . here;");
  fs::remove(folder_ / "here");
  for (const char* also : {"--also -", "-o - --also -"})
    expect_error(std::string("run select in.raw --type i32 --op run_length_encode --out-format raw ") + also, 2,
                 "both be standard output");
  expect_error("run select in.raw --type i32 --op partition_if -o x.npy", 2, "another output: rest");
  expect_error("run select in.raw --type i32 --op unique -o x.npy --also y.npy", 2, "no such output");
  EXPECT_EQ(files().size(), 2u) << "a failed run leaves no output";
  EXPECT_EQ(run("run select in.raw --type i32 --op partition_if --also rest.raw").out, "-2\n-2\n");
  EXPECT_EQ(run("run select rest.raw --type i32 --op unique").out, "5\n7\n");
  EXPECT_EQ(run("run select in.raw --type i32 --op run_length_encode --also lengths.raw").out, "5\n-2\n7\n-2\n");
  EXPECT_EQ(run("run scan lengths.raw --type u64 --op sum").out, "0\n3\n4\n6\n");
  write_raw<std::int32_t>("empty.raw", {});
  EXPECT_EQ(run("run select empty.raw --type i32 --op run_length_encode --also lengths.raw").out, "");
  EXPECT_EQ(read(folder_ / "lengths.raw"), "");

  // More than two chunks, and not a multiple of a chunk. A run crosses the first chunk boundary; the second boundary
  // lies between two runs. Elements of 8 bytes: the fewest that fill a chunk.
  const std::size_t chunk = (std::size_t{32} << 20) / sizeof(std::uint64_t);
  std::vector<std::uint64_t> in(2 * chunk + 12345), unique, below;
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = (i + 1) / 3 * 2654435761u >> 9 & 0xffff;
  ASSERT_EQ(in[chunk - 1], in[chunk]);
  ASSERT_NE(in[2 * chunk - 1], in[2 * chunk]);
  std::vector<std::uint64_t> repeats;
  for (std::size_t i = 0; i + 1 < in.size(); ++i)
    if (in[i] == in[i + 1]) repeats.push_back(i);
  std::unique_copy(in.begin(), in.end(), std::back_inserter(unique));
  std::copy_if(in.begin(), in.end(), std::back_inserter(below), [](std::uint64_t x) { return x < 1000; });
  write_raw("large.raw", in);
  const auto holds = [&](const std::string& name, const auto& values, std::size_t header = 0) {
    const std::string bytes = read(folder_ / name);
    return bytes.size() == header + values.size() * sizeof values[0] &&
           std::memcmp(bytes.data() + header, values.data(), bytes.size() - header) == 0;
  };
  std::vector<std::uint64_t> flagged;
  std::vector<std::uint8_t> flags(in.size());
  for (std::size_t i = 0; i < in.size(); ++i)
    if ((flags[i] = i % 7 == 3)) flagged.push_back(in[i]);
  write_raw("flags.raw", flags);
  ASSERT_EQ(run("run select large.raw --with flags.raw --type u64 --op select_flagged -o flagged.raw").code, 0);
  EXPECT_TRUE(holds("flagged.raw", flagged));
  ASSERT_EQ(run("run select large.raw --type u64 -o repeats.raw").code, 0);
  EXPECT_TRUE(holds("repeats.raw", repeats));
  ASSERT_EQ(run("run select large.raw --type u64 --op unique -o unique.raw --rung serial").code, 0);
  EXPECT_TRUE(holds("unique.raw", unique));
  ASSERT_EQ(run("run select large.raw --type u64 --op select_if --param below=1000 -o below.npy").code, 0);
  EXPECT_TRUE(holds("below.npy", below, 128));

  std::vector<std::uint64_t> rest;
  std::copy_if(in.begin(), in.end(), std::back_inserter(rest), [](std::uint64_t x) { return x >= 1000; });
  ASSERT_EQ(
      run("run select large.raw --type u64 --op partition_if --param below=1000 -o below.raw --also rest.npy").code, 0);
  EXPECT_TRUE(holds("below.raw", below));
  EXPECT_TRUE(holds("rest.npy", rest, 128));
  std::vector<std::uint64_t> lengths;
  for (std::size_t i = 0; i < in.size(); ++i)
    i > 0 && in[i] == in[i - 1] ? ++lengths.back() : (lengths.push_back(1), lengths.back());
  ASSERT_EQ(run("run select large.raw --type u64 --op run_length_encode -o unique.raw --also lengths.raw").code, 0);
  EXPECT_TRUE(holds("unique.raw", unique));
  EXPECT_TRUE(holds("lengths.raw", lengths));
  // One run spans all chunks.
  write_raw("same.raw", std::vector<std::uint64_t>(in.size(), 7));
  EXPECT_EQ(run("run select same.raw --type u64 --op run_length_encode --also length.raw").out, "7\n");
  EXPECT_TRUE(holds("length.raw", std::vector<std::uint64_t>{in.size()}));
}

// Limits and factors have the element type: no conversion through double, and values out of range are refused.
TEST_F(Cli, ParametersOfTheElementsType) {
  write_raw<std::int8_t>("in.raw", {-128, 3, 127});
  EXPECT_EQ(run("run select in.raw --type i8 --op select_if --param below=127").out, "-128\n3\n");
  EXPECT_EQ(run("run select in.raw --type i8 --op select_if --param below=-128").out, "");
  for (const char* below : {"127.5", "128", "1000", "-129", "nan", "1e1"})
    expect_error(std::string("run select in.raw --type i8 --op select_if --param below=") + below, 2,
                 "below is of the elements' type, i8");
  expect_error("run select in.raw --type u8 --op partition_if --also x.npy --param below=256", 2, "elements' type, u8");
  write_raw<std::uint64_t>("u64.raw", {1, ~std::uint64_t{0} - 1, ~std::uint64_t{0}});
  EXPECT_EQ(run("run select u64.raw --type u64 --op select_if").out, "1\n");
  EXPECT_EQ(run("run select u64.raw --type u64 --op select_if --param below=18446744073709551615").out,
            "1\n18446744073709551614\n");
  EXPECT_EQ(run("run saxpy u64.raw --with u64.raw --type u64 --param a=18446744073709551615").out, "0\n0\n0\n");
  EXPECT_EQ(run("run select u64.raw --type i64 --op select_if --param below=9007199254740993").out, "1\n-2\n-1\n");
  write_raw<float>("f32.raw", {1, 1e30f});
  EXPECT_EQ(run("run select f32.raw --type f32 --op select_if --param below=1e29").out, "1\n");
  expect_error("run select f32.raw --type f32 --op select_if --param below=1e39", 2, "elements' type, f32");
}

TEST_F(Cli, RunOnTheFirstElements) {
  write_raw<std::int32_t>("in.raw", {3, -5, 10, 4});
  EXPECT_EQ(run("run reduce in.raw --type i32 -n 3").out, "8\n");
  EXPECT_EQ(run("run reduce in.raw --type i32 -n 0").out, "0\n");
  EXPECT_EQ(run("run reduce - --type i32 -n 2 <in.raw").out, "-2\n");
  expect_error("run reduce in.raw --type i32 -n 5 -o out.npy", 2, "in.raw, which holds 4");
  expect_error("run reduce - --type i32 -n 5 -o out.npy", 2, "standard input ended after 4 of 5", "cat in.raw |");
  expect_error("run reduce in.raw --type i32 -n 1,2", 2, "one size");
  EXPECT_EQ(files().size(), 1u) << "a failed run leaves no output";
}

TEST_F(Cli, RunOnNothing) {
  write("empty.raw", "");
  EXPECT_EQ(run("run reduce empty.raw --type u32").out, "0\n");
  EXPECT_EQ(run("run reduce empty.raw --type f32 --op min").out, "inf\n");
  // Without a first byte there is none, so the header of the output can be written: of a file, and of a pipe.
  EXPECT_EQ(run("run scan empty.raw --type u32 -o -").code, 0);
  EXPECT_EQ(run("run scan - --type u32 -o -", ": |").code, 0);
}

TEST_F(Cli, RunAcrossChunks) {
  // All ones: more than a 32 MiB chunk, and not a multiple of it.
  const std::size_t n = (std::size_t{9} << 20) + 3;
  write_raw("ones.raw", std::vector<std::uint32_t>(n, 1));
  EXPECT_EQ(run("run reduce ones.raw --type u32").out, std::to_string(n) + "\n");
}

TEST_F(Cli, BadFiles) {
  expect_error("run reduce missing.npy", 2, "missing.npy");
  expect_error("run reduce .", 2, "directory");
  write("not.npy", "this is no array");
  expect_error("run reduce not.npy", 2, "not.npy");
  write("odd.raw", "12345");
  expect_error("run reduce odd.raw --type u32", 2, "odd.raw");
  expect_error("run reduce odd.raw --type u9", 2, "no type named 'u9'");
  expect_error("run reduce odd.raw --type u8", 2, "u8");
  write("in.raw", "1234");
  expect_error("run reduce in.raw --type u32 --rung smid", 2, "did you mean 'simd'?");
  // A failed run leaves neither an output nor a temporary file.
  write("kept.npy", "the old result");
  expect_error("run reduce odd.raw --type u32 -o kept.npy", 2, "odd.raw");
  EXPECT_EQ(read(folder_ / "kept.npy"), "the old result");
  EXPECT_EQ(files().size(), 4u);
}

TEST_F(Cli, MissingDevice) {
  if (upsweep::cuda_platform()) GTEST_SKIP() << "there is a GPU";
  expect_error("bench reduce --backend cuda", 4, "no CUDA device");
  expect_error("check reduce --backend cuda", 4, "no CUDA device");
  expect_error("run reduce x.npy --backend cuda", 4, "no CUDA device");
}

TEST_F(Cli, Devices) {
  const Outcome outcome = run("devices");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.out.find("cpu"), std::string::npos);
  EXPECT_TRUE(run("devices --json").out.starts_with("{\"backend\":\"cpu\""));
}

TEST_F(Cli, CheckOneRung) {
  const Outcome outcome = run("check reduce --backend cpu --rung serial --type i32 -n 0,1,33,1000");
  EXPECT_EQ(outcome.code, 0) << outcome.err << outcome.out;
  EXPECT_NE(outcome.out.find("right"), std::string::npos) << outcome.out;
}

// Sizes drawn at random come from a seed, which is printed and draws them again.
TEST_F(Cli, ChecksRandomCases) {
  const std::string quick = "check saxpy --backend cpu --rung serial --quick --type i32 --input uniform ";
  const Outcome drawn = run(quick);
  EXPECT_EQ(drawn.code, 0) << drawn.err << drawn.out;
  EXPECT_NE(drawn.out.find("\ndrawn at random: --seed "), std::string::npos) << drawn.out;
  EXPECT_NE(run(quick + "--seed 5").out.find("--seed 5\n"), std::string::npos);
  EXPECT_NE(run(quick + "--seed 0").out.find("--seed 0\n"), std::string::npos) << "a seed like any other";
  EXPECT_NE(run(quick + "--seed 5 --json").out.find("\"seed\":5"), std::string::npos);
  EXPECT_EQ(run(quick + "-n 10").out.find("seed"), std::string::npos) << "nothing is drawn";

  // Every primitive's cases can be put on a command line.
  const Outcome fresh = run("check --backend cpu --fresh 3 -n 77 --seed 2");
  EXPECT_EQ(fresh.code, 0) << fresh.err << fresh.out;
  const auto runs = [&](const std::string& arguments) {
    const std::string json = run("check reduce --backend cpu --rung serial --type i32 --op sum --input uniform -n 77 "
                                 "--json " + arguments).out;
    return json.substr(json.find("\"runs\":"), 10);
  };
  EXPECT_EQ(runs("--fresh 0"), "\"runs\":4,\"");
  EXPECT_EQ(runs("--fresh 2"), "\"runs\":12,");
}

TEST_F(Cli, CheckWithParameters) {
  const Outcome outcome = run("check histogram --backend cpu --rung serial --type i32 -n 0,1000 --param bins=70000");
  EXPECT_EQ(outcome.code, 0) << outcome.err << outcome.out;
  EXPECT_NE(run("check histogram --backend cpu --rung serial --param bans=7").err.find("bins"), std::string::npos);
  EXPECT_EQ(run("check histogram --backend cpu --rung serial --param grid=7").code, 2) << "of GPU rungs";
}

TEST_F(Cli, InterruptEndsWith130AndLeavesNoFile) {
  // `timeout` sends SIGINT after a second; the benchmark would take far longer.
  const Outcome outcome =
      run("bench reduce --backend cpu -n 2^26 --samples 10000 -o results.jsonl", "timeout --preserve-status -s INT 1");
  EXPECT_EQ(outcome.code, 130) << outcome.err;
  EXPECT_TRUE(files().empty()) << files().front();
}

}  // namespace

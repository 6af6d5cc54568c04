// The upsweep command as users see it: help, names, wrong arguments, and the commands of the laboratory.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "base/platform.h"
#include "command.h"

namespace upsweep {
namespace {

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
  // No line is wider than the 100 columns assumed for a pipe.
  std::istringstream lines(help.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
}

// Completion and the manual page are generated from the same description as --help.
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
  // Completion offers only accepted words: for files, no primitives without a stream, peers, mutants, rungs of another
  // backend, or parameters that shape generated inputs.
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
  for (const char* words :
       {"operations: sum product min max", "inclusive: true or false", "threads: a whole number from 0 to",
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
  EXPECT_TRUE(markdown.starts_with("## scan\n\nout[i] = initial op in[0] op ")) << markdown;
  for (const char* words :
       {"\n- operations: sum product min max\n", "\n### Parameters\n\n- `inclusive`: true or false; ",
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

// A reader that closes the pipe ends the program silently, by SIGPIPE, like any other program.
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
  EXPECT_TRUE(read(folder_ / "r.jsonl").starts_with("{\"device\"")) << "the file has JSON lines, after a header";
  EXPECT_NE(run(bench + "markdown").out.find("\n\n| rung | time | GB/s | score |\n|---|---:|"), std::string::npos);
  EXPECT_TRUE(run("report show r.jsonl --format csv").out.starts_with("primitive,rung,"));
  // JSON lines go to standard output, where every record is complete, and to the file, whose first line holds the
  // fields that all records share.
  const std::string both = run(bench + "json -o both.jsonl").out;
  EXPECT_TRUE(both.starts_with("{\"primitive\":\"reduce\",\"rung\":\"serial\"")) << both;
  EXPECT_EQ(std::count(both.begin(), both.end(), '\n'), 3) << "two rungs and a ceiling:\n" << both;
  EXPECT_EQ(run("report show both.jsonl --json").out, both);
  EXPECT_LT(read(folder_ / "both.jsonl").size(), both.size());
  EXPECT_EQ(run("report show - --json", "cat both.jsonl |").out, both);
  EXPECT_TRUE(run("bench reduce --backend cpu --rung serial --no-peers -n 1K --samples 4 -o -")
                  .out.starts_with("{\"primitive\":\"reduce\",\"rung\":\"serial\""));
  const std::string lines = run("compare r.jsonl r.jsonl --json -o -").out;
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 3) << "each once:\n" << lines;
  for (const std::string format : {"csv", "markdown", "table"})
    expect_error(bench + format + " -o -", 2, "--format " + format + ": -o - writes JSON lines instead");
  expect_error(bench + "xml", 2, "no format named 'xml'");
  expect_error("report plot r.jsonl --json", 2, "only one format");
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
  // A dirty tree's records have no revision, so every case is measured again.
  const bool changed = run("--version").out.find("-dirty") != std::string::npos;
  EXPECT_EQ(std::count(third.begin(), third.end(), '\n'), changed ? 11 : 9) << resumed.err;
  EXPECT_EQ(resumed.err.find("2 cases are already in r.jsonl") == std::string::npos, changed) << resumed.err;
  // The same with a file of complete records, which older versions wrote.
  const std::string complete = run("report show r.jsonl --json").out;
  write("r.jsonl", complete);
  write("complete.jsonl", complete);
  EXPECT_EQ(run(bench + "-n 8K --append").code, 0);
  EXPECT_TRUE(read(folder_ / "r.jsonl").starts_with(complete + "{\"device\""));
  const Outcome again = run(bench + "-n 1K,8K --resume");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(again.err.find("2 cases are already in r.jsonl") == std::string::npos, changed) << again.err;
  write("short.jsonl", third);
  const Outcome same = run("compare complete.jsonl short.jsonl --require-all");
  EXPECT_EQ(same.code, 0) << same.err;
  EXPECT_NE(same.out.find("4 same"), std::string::npos) << "three sizes and a ceiling:\n" << same.out;
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

TEST_F(Cli, TunesWhereThereIsSomethingToTune) {
  const Outcome cpu = run("tune sort --backend cpu --out cpu.tuning");
  EXPECT_EQ(cpu.code, 0);
  EXPECT_NE(cpu.err.find("no threshold decides a call on cpu"), std::string::npos) << cpu.err;
  EXPECT_TRUE(read(folder_ / "cpu.tuning").starts_with("# Thresholds that"));
  EXPECT_EQ(run("devices", "export UPSWEEP_TUNING=cpu.tuning;").code, 0);
  expect_error("tune sotr", 2, "did you mean 'sort'?");
  expect_error("tune --backend simt", 2, "backend");
  expect_error("tune sort --backend cpu --out nowhere/cpu.tuning", 2, "nowhere/cpu.tuning");
  if (!upsweep::cuda_platform()) expect_error("tune --backend cuda", 4, "no CUDA device");
}

TEST_F(Cli, ThresholdsOfAFile) {
  const std::string use =
      "printf '# mine\\nsort.most_enumerated = 4096\\n' >my.tuning; export UPSWEEP_TUNING=my.tuning;";
  const std::string listed = run("list sort --thresholds", use).out;
  EXPECT_TRUE(std::regex_search(listed, std::regex("sort\\.most_enumerated +4096 +8192 +my\\.tuning"))) << listed;
  EXPECT_EQ(run("list sort --thresholds").out.find("my.tuning"), std::string::npos);
  EXPECT_NE(run("list sort -n 6000", use).out.find("sort.most_enumerated = 4096, measured 8192, by my.tuning"),
            std::string::npos);
  EXPECT_NE(run("devices", use).err.find("thresholds are set by my.tuning"), std::string::npos);
  EXPECT_NE(run("bench reduce --backend cpu --rung serial -n 2^10 --samples 4 --no-peers --json", use)
                .out.find(R"("tuning":{"sort.most_enumerated":4096})"),
            std::string::npos);
  const auto expect_refused = [&](const std::string& line, const char* what) {
    expect_error("list reduce", 2, what, "printf '" + line + "\\n' >bad.tuning; export UPSWEEP_TUNING=bad.tuning;");
  };
  expect_refused("sort.most = 1", "bad.tuning:1: this program has no threshold 'sort.most'");
  expect_refused("sort.most_enumerated = many", "bad.tuning:1: sort.most_enumerated: 'many' is not a whole number");
  expect_error("list reduce", 2, "cannot open missing.tuning", "export UPSWEEP_TUNING=missing.tuning;");
  EXPECT_EQ(run("--help", "export UPSWEEP_TUNING=missing.tuning;").code, 0);
  expect_error("list sort --thresholds -n 5", 2, "omit one of them");
#if defined(UPSWEEP_WITH_SIMT)
  expect_refused("sort.portion_keys = 3", "sort.portion_keys is 3");
  EXPECT_NE(run("list sort --thresholds").out.find("sort.portion_keys"), std::string::npos);
#endif
}

TEST_F(Cli, ResultsAsJson) {
  write_raw<float>("in.raw", {1, 2.5f, INFINITY});
  EXPECT_EQ(run("run scan in.raw --type f32 --json --param inclusive=1 --rung serial").out,
            R"({"primitive":"scan","rung":"serial","backend":"cpu","op":"sum","type":"f32","result_type":"f32",)"
            R"("result":[1,3.5,"inf"]})"
            "\n");
  // JSON readers parse -0 as an integer, which has no sign.
  write_raw<float>("zeros.raw", {-0.f, 0, 1});
  const std::string zeros = run("run sort zeros.raw --type f32 --json").out;
  EXPECT_TRUE(zeros.ends_with("\"result\":[-0.0,0,1]}\n")) << zeros;
  EXPECT_EQ(run("run sort zeros.raw --type f32").out, "-0\n0\n1\n");
  write_raw<double>("wide.raw", {-0.});
  EXPECT_TRUE(run("run scan wide.raw --type f64 --param inclusive=true --json").out.ends_with("[-0.0]}\n"));
  write_raw<std::uint32_t>("keys.raw", {3, 1, 2});
  EXPECT_EQ(run("run partition keys.raw --type u32 --param bits=1 --table --json").out,
            "{\"bucket\":0,\"offset\":0,\"count\":1}\n{\"bucket\":1,\"offset\":1,\"count\":2}\n");
  expect_error("run scan in.raw --type f32 --json -o out.npy", 2, "there is nothing to print as JSON");
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
  expect_error("bench partition --type u16", 2, "does not take type u16");
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
  expect_error("explain scan --rung block -n 100 --type u64", 2, "for u64 (it has one for i32: --type)");
  EXPECT_EQ(run("explain reduce --rung reproducible -n 100").code, 0) << "the rung's own type";
  EXPECT_NE(run("devices", "UPSWEEP_CACHE_BYTES=4M").err.find("UPSWEEP_CACHE_BYTES is '4M'"), std::string::npos);
  expect_error("check scan --backend simt --rung block -n 2^20", 2, "nothing to check");
#endif
}

// Numbers are decimal, use the whole text, and are never changed silently.
TEST_F(Cli, NumbersAreWhatTheySay) {
  write_raw<std::int32_t>("in.raw", {3, -5, 10, 4});
  for (const char* option : {"bench --samples", "check --schedule", "check --failures", "report show x --channels",
                             "render rgb --seed", "compare a b --threshold", "bench --min-time"})
    for (const char* number : {"18446744073709551616", "-1", "+4", "0x10", "4x", "4 5", "1e99", "nan", "four"})
      expect_error(std::string(option) + " '" + number + "'", 2, "number from ");
  expect_error("bench --samples 4.5", 2, "'4.5' is not a whole number from 4 to 100000");
  expect_error("check --schedule 1e3", 2, "whole number");
  // A leading zero does not mean octal.
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
// The emulator reserves address space on first use, and works with what a limit leaves.
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
  EXPECT_TRUE(records.starts_with("{\"device\"")) << records;
  EXPECT_NE(records.find("\n{\"rung\":\"serial\",\"n\":1000,"), std::string::npos) << records;
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
  // These parameters are for copies from host memory, which only some rungs make.
  expect_error("run saxpy in.raw --with in.raw --type i32 --backend simt --param streams=2 -o out.raw", 2,
               "none of these rungs reads the parameter 'streams'");
  for (const std::string command : {"explain saxpy", "check saxpy --backend simt --type i32"}) {
    expect_error(command + " -n 100 --rung naive --param chunk=64", 2,
                 "none of these rungs reads the parameter 'chunk'");
    EXPECT_EQ(run(command + " -n 100 --rung naive,from_host_pipelined --param chunk=64").code, 0) << command;
  }
#endif
}

// Hints never suggest a conversion that would lose fractions, signs or out-of-range values.
TEST_F(Cli, HintsKeepTheValues) {
  write_raw<std::uint64_t>("in.raw", {1, 2, 3, 4});
  expect_error("run partition in.raw --type u8", 2, "a.astype('u4')");
  expect_error("run partition in.raw --type f32", 2,
               "to reinterpret each element's bits as a number, in numpy: a.view('u4')");
  expect_error("run partition in.raw --type i64", 2, "a.view('u8')");
  expect_error("run partition in.raw --type i8", 2, "it takes u32, u64, none of which holds every value of i8");
  expect_error("run reduce in.raw --type i16", 2, "--out-type i32, i64, f32, f64");
  expect_error("run histogram in.raw --type f32 --op direct", 2,
               "no rung of histogram takes direct of f32 (of f32 it takes even, edges)");
}

// NumPy's bins: from the minimum to the maximum sample, which belongs to the last bin; also for an image and a pipe.
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

// The command reports how many samples are in no bin, unless that output is requested.
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
  EXPECT_NE(run("list histogram").out.find("run: the minimum sample"), std::string::npos);
}

#if !defined(UPSWEEP_SANITIZE_ADDRESS)  // sanitizer builds have no peers
TEST_F(Cli, BenchSaysForWhichTypesThereAreNoPeers) {
  const std::string call = "bench sort --backend cpu --rung serial -n 16,32 --samples 4 --type ";
  const std::string words = "no peer of sort is compiled for u64";
  const std::string err = run(call + "u64").err;
  EXPECT_NE(err.find(words), std::string::npos) << err;
  EXPECT_EQ(err.find(words), err.rfind(words)) << "once, not for every size:\n" << err;
  EXPECT_EQ(run(call + "i32").err.find("no peer"), std::string::npos);
  EXPECT_EQ(run(call + "u64 --no-peers").err.find("no peer"), std::string::npos);
}
#endif

// bench skips a case whose input the laboratory cannot generate, and runs the others.
TEST_F(Cli, CasesThatCannotBeMade) {
  const std::string bench = "bench histogram --backend cpu --rung serial --no-peers --op edges -n 1K --json";
  const Outcome none = run(bench + " --type u8 --param bins=1000");
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("the laboratory has no 1001 different edges of u8"), std::string::npos) << none.err;
  EXPECT_EQ(none.out.find("\"bins\""), std::string::npos) << "no record: " << none.out;
  const Outcome some = run(bench + " --type u8,u16 --param bins=1000");
  EXPECT_EQ(some.code, 0) << some.err;
  EXPECT_NE(some.out.find("\"type\":\"u16\""), std::string::npos) << some.out;
  // A type that no rung takes leaves bench without work.
  const Outcome direct =
      run("bench histogram --backend cpu --rung serial --no-peers --op direct --type f32 -n 1K -o r.jsonl");
  EXPECT_EQ(direct.code, 2);
  EXPECT_NE(direct.err.find("nothing was timed: no rung takes any of these cases"), std::string::npos) << direct.err;
  EXPECT_TRUE(files().empty());
  EXPECT_EQ(run("check histogram --backend cpu --rung serial --quick --param bins=70000").code, 0);
  EXPECT_EQ(run("check histogram --backend cpu --rung serial --quick --type u8 --op edges --param bins=255").code, 0);
}

#if !defined(UPSWEEP_SANITIZE_ADDRESS) && !defined(UPSWEEP_SANITIZE_THREAD)  // sanitizer builds have no peers
// Peers that do not take a case are skipped, and the others run.
TEST_F(Cli, PeersThatDoNotTakeACase) {
  const Outcome outcome =
      run("bench sort --backend cpu --rung serial --type i32 -n 300 --samples 4 --param value_bytes=16 --json");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("not run: sort/"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.out.find("\"median_us\":null"), std::string::npos) << outcome.out;
  const std::string peer = "bench sort --backend cpu --rung std::sort --no-peers --type i32 -n 300 --samples 4";
  EXPECT_EQ(run(peer).code, 0) << "a peer alone";
  EXPECT_EQ(run(peer + " --param value_bytes=16").code, 2) << "nothing is left to time";
}
#endif

// Every figure in a README comes from results/.
TEST_F(Cli, ReadmesAndPicturesSayWhatTheRecordsSay) {
  const std::string in_source = std::string("cd ") + UPSWEEP_SOURCE_DIR + " &&";
  const Outcome tables =
      run("report readme --check README.md src/ladders/*/README.md docs/notes/*.md docs/notebook/*.md", in_source);
  EXPECT_EQ(tables.code, 0) << tables.err;
  for (const std::string name : {"reduce", "scan"}) {
    const std::string base = "results/h200/" + name;
    const Outcome picture = run("report plot --check " + base + ".jsonl --type i32 -o " + base + "-i32.svg", in_source);
    EXPECT_EQ(picture.code, 0) << picture.err;
  }
  expect_error("report plot --check results.jsonl", 2, "-o");
  // The check fails for a picture of other records.
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
  // Changes within the threshold are accepted, and missing cases unless --require-all is given.
  EXPECT_EQ(run("compare before.jsonl slower.jsonl --threshold 101").code, 0);
  EXPECT_EQ(run("compare before.jsonl slower.jsonl --threshold 99").code, 3);
  std::string more = with("10.0", "a");
  write("more.jsonl", with("10.0", "a") + more.replace(more.find("1024"), 4, "4096"));
  EXPECT_EQ(run("compare more.jsonl before.jsonl").code, 0);
  EXPECT_EQ(run("compare more.jsonl before.jsonl --require-all").code, 3);
  EXPECT_NE(run("compare before.jsonl slower.jsonl --format markdown").out.find("| case | before |"),
            std::string::npos);
  // JSON lines contain every case; a table contains unchanged cases only with --all.
  const std::string same = "compare before.jsonl before.jsonl ", one_case = "reduce/simd cpu f32 sum";
  EXPECT_EQ(run(same).out.find(one_case), std::string::npos);
  EXPECT_NE(run(same + "--all").out.find(one_case), std::string::npos);
  for (const char* format : {"--json", "--format csv", "-o -"}) {
    EXPECT_NE(run(same + format).out.find(one_case), std::string::npos) << format;
    expect_error(same + "--all " + format, 2, "--all applies to tables only");
  }
  EXPECT_NE(run(same + "--all -o lines.jsonl").out.find(one_case), std::string::npos);
  expect_error("compare before.jsonl missing.jsonl", 2, "missing.jsonl");
  write("broken.jsonl", "{\"primitive\":\n");
  expect_error("compare before.jsonl broken.jsonl", 2, "broken.jsonl:1");
  std::string other = with("10.0", "a");
  write("other.jsonl", other.replace(other.find("1024"), 4, "2048"));
  expect_error("compare before.jsonl other.jsonl", 2, "no case in common");
}

// Records that differ in parameters or situation are shown in separate tables.
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

// Standard output and standard error may be closed, full, or a file that other programs write to.
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
// Neither a mutant that these cases do not expose nor a rung that refuses the launch shape is a wrong result.
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
// Without parameters, a primitive's example is traced; the user's parameters replace its values.
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
  EXPECT_NE(all.err.find("every rung rejects this case"), std::string::npos) << all.err;
}
#endif

TEST_F(Cli, InterruptedRecordsAreKept) {
  write("r.jsonl", "old");
  // The message is printed even if its reader is slow: the pipe is full, and drained only a second later.
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

// Random sizes derive from a seed, which is printed and reproduces them.
TEST_F(Cli, ChecksRandomCases) {
  const std::string quick = "check saxpy --backend cpu --rung serial --quick --type i32 --input uniform ";
  const Outcome drawn = run(quick);
  EXPECT_EQ(drawn.code, 0) << drawn.err << drawn.out;
  EXPECT_NE(drawn.out.find("\ndrawn at random: --seed "), std::string::npos) << drawn.out;
  EXPECT_NE(run(quick + "--seed 5").out.find("--seed 5\n"), std::string::npos);
  EXPECT_NE(run(quick + "--seed 0").out.find("--seed 0\n"), std::string::npos) << "a seed like any other";
  EXPECT_NE(run(quick + "--seed 5 --json").out.find("\"seed\":5"), std::string::npos);
  EXPECT_EQ(run(quick + "-n 10").out.find("seed"), std::string::npos) << "nothing is drawn";

  // Every primitive's cases can be expressed on a command line.
  const Outcome fresh = run("check --backend cpu --fresh 3 -n 77 --seed 2");
  EXPECT_EQ(fresh.code, 0) << fresh.err << fresh.out;
  // A case that a rung refuses does not count as a failure.
  const Outcome refused = run("check sort --backend cpu --rung std::sort --type i32 -n 77 --fresh 30 --seed 1");
  EXPECT_EQ(refused.code, 0) << refused.err << refused.out;
  const auto runs = [&](const std::string& arguments) {
    const std::string json =
        run("check saxpy --backend cpu --rung serial --type i32 --input uniform -n 77 --json " + arguments).out;
    return json.substr(json.find("\"runs\":"), 10);
  };
  EXPECT_EQ(runs("--fresh 0"), "\"runs\":8,\"");
  EXPECT_EQ(runs("--fresh 2"), "\"runs\":16,");
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
}  // namespace upsweep

// upsweep run and render on the user's files: formats, chunks, one clear line for every mistake, no half-written file.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "command.h"
#include "cpu_rungs.h"

namespace upsweep {
namespace {

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

// Returns the rows of a picture: '.' for a white pixel, '#' for any other.
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
  expect_error("render rgb --background -1,0,0 -o a.ppm", 2, "holds colours from 0 to 1");
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
  expect_error("render snowsingle --background black", 2, "has its own sky");
  expect_error("render rgb --memory 1M", 2, "--memory limits what a GPU uses");
#if defined(UPSWEEP_WITH_SIMT)
  const std::string limited = "render rand10k -n 2000 --size 8 --backend simt --memory 1M ";
  expect_error(limited + "--rung pixel -o a.png", 2, "--memory: pixel takes no limit (omit it; these take one: ");
  expect_error(limited + "--rung pixle -o a.png", 2, "render has no rung 'pixle'");
  for (const char* rung : {"--rung binned", "--rung bit_columns", "--rung list_ends", ""})
    EXPECT_EQ(run(limited + rung).code, 0) << rung;
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

  // A film is a header, then per frame a line "FRAME" and three bytes per pixel. The frames do not depend on the range.
  const std::string header = "YUV4MPEG2 W20 H10 F60:1 Ip A1:1 C444\n";
  const std::string film = run("render hypnosis --frames 0:4 --size 20x10 -o -").out;
  constexpr std::size_t frame = 6 + 3 * 20 * 10;
  ASSERT_EQ(film.size(), header.size() + 4 * frame);
  EXPECT_TRUE(film.starts_with(header + "FRAME\n"));
  EXPECT_EQ(static_cast<unsigned char>(film[header.size() + 6]), 235);  // white
  EXPECT_EQ(run("render hypnosis --frames 2:4 --size 20x10 -o film.y4m").code, 0);
  EXPECT_EQ(read(folder_ / "film.y4m"), header + film.substr(header.size() + 2 * frame));

  // An interrupted film leaves only whole frames.
  run("render snow --frames 0:100000 -n 300 --size 64 -o g%d.png & "
      "while kill -0 $! && [ ! -e g2.png ]; do sleep 0.01; done; kill -TERM $!; wait $!");
  for (const std::string& name : files()) {
    EXPECT_TRUE(name.ends_with(".png") || name == "film.y4m") << name;
    EXPECT_TRUE(name.ends_with(".y4m") || read(folder_ / name).find("IEND") != std::string::npos) << name;
  }

  expect_error("render rgb --frames 0:4 -o a%d.png", 2, "the scene 'rgb' stands still");
  expect_error("render snow --frames 4:4 -o a%d.png", 2, "--frames 4:4 is not a range of frames");
  expect_error("render snow --frames 0:2 --bench", 2, "--bench times one picture");
  expect_error("render snow --frames 0:2 -o a.png", 2, "a.png has no %d for their numbers");
  expect_error("render snow --frames 0:2 -o a%s.png", 2, "has no %d for their numbers");
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

  // More than two chunks, and not a whole number of them.
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

// An option that would have no effect is an error.
TEST_F(Cli, OptionsThatAModeDoesNotRead) {
  write_raw<std::int32_t>("in.raw", {3, -5, 10, 4});
  for (const char* arguments :
       {"report show a.jsonl --check", "report show a.jsonl -o x", "report show a.jsonl --channels 3",
        "report show a.jsonl --results x", "report readme README.md --type f32", "report readme README.md -o x",
        "report readme README.md --channels 1", "report plot a.jsonl --results x", "report plot a.jsonl --channels 3",
        "report plot a.npy --type f32"})
    expect_error(arguments, 2, "does not read -");
  expect_error("check reduce --backend cpu --schedule 3", 2, "--schedule applies only to emulators");
#if defined(UPSWEEP_WITH_SIMT)
  expect_error("check reduce --backend simt --peers", 2, "the emulators have no peers");
#endif
  expect_error("check reduce --backend cpu -n 10 --seed 3", 2, "--seed: with -n, nothing is random");
#if defined(UPSWEEP_WITH_SIMT)
  expect_error("check reduce --backend simt -n 10 --fresh 3", 2, "--fresh applies only to CPU and GPUs");
#endif
  for (const char* lines : {"--json", "--format csv", "-o -"})
    expect_error(std::string("bench reduce --backend cpu --story ") + lines, 2, "there are none");
  expect_error("bench reduce --backend cpu --rung serial --from-host", 2, "none of these rungs takes arrays in host");
  for (const char* arguments : {"saxpy in.raw --with in.raw --param inplace=true", "select in.raw --param share=0.5",
                                "sort in.raw --param distinct=3", "select in.raw --param run_length=3",
                                "segmented_scan in.raw --with in.raw --param length=3"})
    expect_error(std::string("run ") + arguments + " --type i32 -o x.npy", 2, "shapes generated inputs");
  expect_error("run sort in.raw --type i32 --param float_order=total_order -o x.npy", 2, "'float_order' is of floats");
  EXPECT_EQ(run("run sort in.raw --type f32 --param float_order=total_order -o x.raw").code, 0);
  expect_error("run render in.raw --type f32", 2, "render cannot be run on files (upsweep render draws them)");
  expect_error("run ceiling in.raw --type f32", 2, "(see upsweep bench)");
}

// A hint names rungs that take the case, if there are any, and a conversion that helps.
TEST_F(Cli, RungsThatDoNotTakeTheType) {
  write_raw<std::uint16_t>("narrow.raw", {3, 5, 10, 4});
  expect_error(
      "run reduce narrow.raw --type u16", 2,
      "reduce does not take the sum of u16 (compute in a wider type: --out-type i32, u32, i64, u64, f32, f64)");
  EXPECT_EQ(run("run reduce narrow.raw --type u16 --op max").out, "10\n");
  EXPECT_EQ(run("run reduce narrow.raw --type u16 --op argmax").out, "2\n");
  EXPECT_EQ(run("run reduce narrow.raw --type u16 --out-type u64").out, "22\n");
  expect_error("run partition narrow.raw --type u16", 2,
               "partition does not take u16 (convert the file, in numpy: a.astype('u4'))");
  write_raw<std::int32_t>("in.raw", {3, -5, 10, 4});
  const Outcome reproducible = run("run scan in.raw --type i32 --rung reproducible");
  EXPECT_NE(reproducible.err.find("scan/reproducible does not take the sum of i32 (these do: serial"),
            std::string::npos)
      << reproducible.err;
#if defined(UPSWEEP_WITH_SIMT)
  write_raw<std::uint64_t>("wide.raw", {3, 5, 10, 4});
  expect_error("run reduce wide.raw --type u64 --op max --backend simt --rung total", 2,
               "no rung of reduce takes max of u64 (of u64 it takes sum, argmax)");
#endif
}

// 1.5, -2, 0.25 and NaN as f16, and 1.5, -2 as bf16.
TEST_F(Cli, RunsOnHalves) {
  write_raw<std::uint16_t>("f16.raw", {0x3e00, 0xc000, 0x3400, 0x7e00});
  EXPECT_EQ(run("run sort f16.raw --type f16").out, "-2\n0.25\n1.5\nnan\n");
  EXPECT_EQ(run("run reduce f16.raw --type f16 -n 3").out, "-0.25\n");
  EXPECT_EQ(run("run reduce f16.raw --type f16 -n 3 --out-type f64").out, "-0.25\n");
  EXPECT_EQ(run("run reduce f16.raw --type f16 --op argmax").out, "3\n");
  EXPECT_EQ(run("run scan f16.raw --type f16 -n 3 --param initial=0.5 --out-type f32").out, "0.5\n2\n0\n");
  EXPECT_EQ(run("run sort f16.raw --type f16 -o sorted.npy").code, 0);
  EXPECT_EQ(run("run reduce sorted.npy -n 3 --op max").out, "1.5\n");
  write_raw<std::uint16_t>("bf16.raw", {0x3fc0, 0xc000});
  EXPECT_EQ(run("run sort bf16.raw --type bf16").out, "-2\n1.5\n");
  expect_error("run sort bf16.raw --type bf16 -o sorted.npy", 2,
               ".npy files have no bf16 (write raw numbers: --out-format raw)");
  expect_error("run saxpy bf16.raw --with bf16.raw --type bf16", 2,
               "saxpy does not take bf16 (convert the file, in numpy: a.astype('f4'))");
}

// Segments that begin in one chunk and end in another, and a shorter one at the end.
TEST_F(Cli, RunReducesSegmentsOfFiles) {
  write_raw<std::int32_t>("in.raw", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  const std::string sums = "run reduce in.raw --type i32 --param segment_length=";
  EXPECT_EQ(run(sums + "4").out, "10\n26\n19\n");
  EXPECT_EQ(run(sums + "4,initial=100 --op max").out, "100\n100\n100\n");
  EXPECT_EQ(run(sums + "100").out, "55\n");
  const Outcome written = run(sums + "4 --out-type i64 -o sums.npy");
  EXPECT_EQ(written.code, 0) << written.err;
  EXPECT_EQ(run("run reduce sums.npy --op max").out, "26\n");
  std::vector<std::int32_t> many(700'000);
  std::iota(many.begin(), many.end(), 0);
  write_raw<std::int32_t>("many.raw", many);
  const Outcome outcome =
      run("run reduce many.raw --type i32 --out-type i64 --memory 8M --param segment_length=300000");
  EXPECT_EQ(outcome.out, "44999850000\n134999850000\n64999950000\n");
  expect_error(sums + "4 --op argmax", 2, "argmax does not read the parameter 'segment_length'");
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

  // Chunks of 1 MiB: some end at a segment boundary, some within a segment, and one segment spans several. More offsets
  // than one read returns.
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
      const Outcome outcome = run("run segmented_scan in.raw --type u64 --memory 1M -o out.raw --with " + heads +
                                  ".raw --param heads=" + heads + (is_inclusive ? ",inclusive=true" : ""));
      ASSERT_EQ(outcome.code, 0) << outcome.err;
      EXPECT_TRUE(read_raw<std::uint64_t>("out.raw") == (is_inclusive ? inclusive : exclusive)) << heads;
    }
}

// Integer sums wrap in their type: a warning says so and names a wider type.
TEST_F(Cli, RunInAWiderType) {
  write_raw("ones.raw", std::vector<std::uint8_t>(300, 1));
  const Outcome narrow = run("run scan ones.raw --type u8 -o out.raw");
  EXPECT_EQ(narrow.code, 0);
  EXPECT_EQ(narrow.err,
            "upsweep: the sum at element 256 is beyond u8 and has wrapped (--out-type u64 computes in a "
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

  EXPECT_EQ(run("run reduce ones.raw --type u8").out, "300\n") << "sums of bytes are u64";
  EXPECT_EQ(run("run reduce ones.raw --type u8 --op min").out, "1\n");
  expect_error("run reduce signs.raw --type i8 -o x.npy", 2, "--out-type i32, i64, f32, f64");
  expect_error("run scan ones.raw --type u8 --out-type i8 -o x.npy", 2, "wider types: i16 u16 i32 u32 i64 u64 f32 f64");
  expect_error("run scan signs.raw --type i8 --out-type u64 -o x.npy", 2, "does not convert i8 to it without loss");
  expect_error("run sort ones.raw --type u8 --out-type u16 -o x.npy", 2, "sort cannot compute in another type");
  expect_error("run scan ones.raw --type u8 --out-type u65 -o x.npy", 2, "no type named 'u65'");

  // For a reduction only the result counts, not intermediate sums.
  write_raw<std::int32_t>("there_and_back.raw", {2147483647, 1, -1});
  EXPECT_EQ(run("run reduce there_and_back.raw --type i32").err, "");
  EXPECT_NE(run("run reduce there_and_back.raw --type i32 -n 2").err.find("the sum is beyond i32"), std::string::npos);
  write_raw<std::int64_t>("products.raw", {1'000'000'007, 1'000'000'009, -9, 2, 0});
  EXPECT_EQ(run("run reduce products.raw --type i64 --op product -n 3").err, "");
  EXPECT_NE(run("run reduce products.raw --type i64 --op product -n 4").err.find("the product is beyond i64"),
            std::string::npos);
  EXPECT_EQ(run("run reduce products.raw --type i64 --op product").err, "") << "0 is right";
  write_raw<std::int64_t>("large.raw", std::vector<std::int64_t>(40, 1'000'000'000));
  EXPECT_NE(run("run reduce large.raw --type i64 --op product").err.find("the product is beyond i64"),
            std::string::npos)
      << "10^360 is beyond a double, too";
  const Outcome products = run("run scan products.raw --type i64 --op product --param inclusive=1");
  EXPECT_EQ(products.out, "1000000007\n1000000016000000063\n-9000000144000000567\n446743785709550482\n0\n");
  EXPECT_NE(products.err.find("the product at element 3 is beyond i64"), std::string::npos) << products.err;
  EXPECT_EQ(run("run scan products.raw --type i64 --op product -n 4").err, "") << "the last one is left out";

  // The product of all earlier chunks is prepended to a chunk as one more element, or becomes its initial value.
  std::vector<std::uint32_t> odd((3 << 20) / 4), odd_products;
  for (std::size_t i = 0; i < odd.size(); ++i) odd[i] = static_cast<std::uint32_t>(2 * i * i + 1);
  std::uint32_t running = 3;
  for (const std::uint32_t x : odd) odd_products.push_back(std::exchange(running, running * x));
  write_raw("odd.raw", odd);
  const Outcome odd_run = run("run scan odd.raw --type u32 --op product --param initial=3 --memory 1M -o out.raw");
  EXPECT_EQ(odd_run.code, 0) << odd_run.err;
  EXPECT_TRUE(read_raw<std::uint32_t>("out.raw") == odd_products);

  // The sum that wraps is the first of a chunk; the conversion works per chunk too.
  std::vector<std::uint32_t> large((3 << 20) / 4, 1);
  large[(1 << 20) / 4 - 1] = 0xffffffff;
  write_raw("large.raw", large);
  EXPECT_NE(run("run scan large.raw --type u32 --memory 1M -o out.raw").err.find("at element 262144 is"),
            std::string::npos);
  EXPECT_EQ(run("run scan large.raw --type u32 --memory 1M --out-type u64 -o out.raw").err, "");
  EXPECT_EQ(read_raw<std::uint64_t>("out.raw").back(), 0xffffffffu + std::uint64_t{large.size()} - 2);
}

TEST_F(Cli, RunFromAnInitialValue) {
  write_raw<std::int32_t>("in.raw", {3, -5, 10});
  EXPECT_EQ(run("run scan in.raw --type i32 --param initial=100").out, "100\n103\n98\n");
  EXPECT_EQ(run("run scan in.raw --type i32 --param initial=-7,inclusive=true --op max").out, "3\n3\n10\n");
  EXPECT_EQ(run("run reduce in.raw --type i32 --param initial=100").out, "108\n");
  EXPECT_EQ(run("run reduce in.raw --type i32 --param initial=100 -n 0").out, "100\n");
  // The initial value has the output's type, whatever the order of the options.
  for (const char* wide :
       {"--param initial=5000000000 --param out_type=i64", "--param initial=5000000000 --out-type i64"})
    EXPECT_EQ(run(std::string("run reduce in.raw --type i32 ") + wide).out, "5000000008\n") << wide;
  expect_error("run reduce in.raw --type i32 --param initial=5000000000", 2, "of the output's type, i32");
  expect_error("run scan in.raw --type i32 --param out_type=f64", 2, "sums may be wider: u8 as u32 or u64");
#if defined(UPSWEEP_WITH_SIMT)
  expect_error("run scan in.raw --type i32 --param initial=1 --backend simt --rung recursive", 2,
               "takes no initial value");
#endif

  // In chunks: one segment spans several chunks, one begins at a chunk boundary, and one chunk contains many segments.
  const std::size_t n = (5 << 20) / 4, chunk = (1 << 20) / 4;
  std::vector<std::uint32_t> large(n);
  for (std::size_t i = 0; i < n; ++i) large[i] = static_cast<std::uint32_t>(i * 2654435761u);
  std::vector<std::uint64_t> heads{0, 7, 2 * chunk + 5, 3 * chunk, 4 * chunk - 1};
  for (std::size_t head = 4 * chunk + 1; head < n; head += 999) heads.push_back(head);
  write_raw("large.raw", large);
  write_raw("heads.raw", heads);
  for (const bool inclusive : {false, true}) {
    const std::string params = std::string(" --param initial=9") + (inclusive ? ",inclusive=true" : "");
    std::vector<std::uint64_t> scan(n), segments(n);
    std::uint64_t total = 9, part = 9;
    std::size_t k = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (k < heads.size() && heads[k] == i) part = 9, ++k;
      scan[i] = inclusive ? total + large[i] : total;
      segments[i] = inclusive ? part + large[i] : part;
      total += large[i], part += large[i];
    }
    EXPECT_EQ(run("run scan large.raw --type u32 --memory 1M --out-type u64 -o out.raw" + params).err, "");
    EXPECT_TRUE(read_raw<std::uint64_t>("out.raw") == scan) << inclusive;
    EXPECT_EQ(run("run segmented_scan large.raw --type u32 --memory 1M --out-type u64 -o out.raw --with heads.raw" +
                  params + ",heads=offsets")
                  .err,
              "");
    EXPECT_TRUE(read_raw<std::uint64_t>("out.raw") == segments) << inclusive;
    EXPECT_EQ(run("run segmented_scan large.raw --type u32 --memory 1M -o out.raw --with heads.raw" + params +
                  ",heads=offsets")
                  .code,
              0);
    const std::vector<std::uint32_t> wrapped(segments.begin(), segments.end());
    EXPECT_TRUE(read_raw<std::uint32_t>("out.raw") == wrapped) << inclusive;
  }
}

TEST_F(Cli, RunTakesWhatThePrimitiveTakes) {
  write_raw<std::int32_t>("in.raw", {3, -5, 10, 4});
  expect_error("run saxpy in.raw --with in.raw --type i32 --op unique", 2, "saxpy has no operations");
  expect_error("run segmented_scan in.raw --type i32 --op product", 2, "no op of segmented_scan named 'product'");
  expect_error("run segmented_scan in.raw --type i32 --op product", 2, "there are: sum min max");
  expect_error("run scan in.raw --type i16 --op product", 2,
               "the product of i16 (compute in a wider type: --out-type i32");
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
  expect_error("run scan in.raw --type i32 --out-format raw -o x.npy", 2, "the extension of x.npy decides");
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

// The content decides what an input is, whatever the file's name; also in a pipe.
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
  expect_error("run saxpy f.npy --with t.npy", 2, "t.npy has the shape (3, 2), not (2, 3) like f.npy");
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

#if !defined(UPSWEEP_SANITIZE_ADDRESS) && !defined(UPSWEEP_SANITIZE_THREAD)  // sanitizers do not run under strace
// Two outputs, with signals between their renames, which strace delays.
TEST_F(Cli, SeveralOutputsAreReplacedTogether) {
  if (std::system("strace -e trace=none true >/dev/null 2>&1") != 0) GTEST_SKIP() << "no strace";
  const auto prepare = [&] {
    write_raw<std::uint32_t>("k.bin", {3, 2, 1});
    write_raw<std::uint32_t>("v.bin", {30, 20, 10});
    write("k.old", read(folder_ / "k.bin"));
  };
  // Each output's journal is renamed first, then the outputs.
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
  // If it is killed outright, the command leaves outputs that the next run completes.
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

  // More than two chunks, and not a whole number of them.
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
  const auto refused = [&](const std::string& arguments, const std::string& words, const std::string& input = "") {
    expect_refused("run saxpy " + arguments + " --type f32 -o out.npy", words, input);
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
  const auto refused = [&](const std::string& arguments, const std::string& words) {
    expect_refused("run histogram bytes.raw --type u8 -o out.npy " + arguments, words);
  };
  refused("--op edges", "needs another input: edges");
  refused("--op edges --with bad.raw", "edge 2, 3, is not above the one before it, 3");
  refused("--op edges --with edges.raw --param bins=3", "3 edges for 3 bins");
  refused("--param edge_type=i32", "edge_type without edges");
  refused("--param lower=4,upper=4", "the range from 4 to 4 is empty");
  refused("--param lower=300,upper=400", "contains no value of u8");
  refused("--param width=3", "gaps between rows");

  // An image determines the number of channels. More than two chunks, which end inside a pixel; counters that saturate.
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
  const auto refused = [&](const std::string& arguments, const std::string& words) {
    expect_refused(sort + " -o not.npy " + arguments, words);
  };
  refused("--param value_bytes=4", "needs another input: values");
  refused("--param value_bytes=16 --with values.raw", "values of 16 bytes cannot be read from a file");
  refused("--param indices=true,value_bytes=4", "both values and indices are asked for");
  refused("--param indices=true", "another output: indices");
  refused("--with bytes.npy", "the values are u8");
  refused("--param first_bit=8,bits=32", "32 bits from bit 8 on are beyond a key of 32 bits");
  refused("--param first_bit=32", "1 bits from bit 32 on are beyond a key of 32 bits");
  refused("--param bits=0", "bits is a whole number from 1 to 64");
  refused("--param distinct=3", "distinct shapes generated inputs");

  // More than two chunks, and not a whole number of them.
  std::vector<double> keys(10'000'001);
  for (std::size_t i = 0; i < keys.size(); ++i)
    keys[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(i) * 2654435761u) % 1000;
  write_raw("large.raw", keys);
  // In memory, and in chunks through a temporary file.
  for (const std::string memory : {"", " --memory 1 --temporary ."}) {
    ASSERT_EQ(run("run sort large.raw --type f64 --param indices=true -o out.raw --also indices.raw" + memory).code, 0);
    const auto out = read_raw<double>("out.raw");
    const auto indices = read_raw<std::uint64_t>("indices.raw");
    ASSERT_EQ(out.size(), keys.size());
    ASSERT_EQ(indices.size(), keys.size());
    // One assertion per key would take a minute under AddressSanitizer.
    const auto right = [&](std::size_t i) {
      return out[i] == keys[indices[i]] &&
             (i == 0 || out[i - 1] < out[i] || (out[i - 1] == out[i] && indices[i - 1] < indices[i]));
    };
    std::size_t first_wrong = 0;
    while (first_wrong < keys.size() && right(first_wrong)) ++first_wrong;
    ASSERT_EQ(first_wrong, keys.size());
    // With values. Only the sign bit is compared, and the signs are in order already, so no key may move, however many
    // runs are merged.
    ASSERT_EQ(run("run sort out.raw --type u64 --op descending --param first_bit=63,bits=1,value_bytes=8 --with "
                  "indices.raw -o twice.raw --also moved.raw" +
                  memory)
                  .code,
              0);
    EXPECT_EQ(read_raw<double>("twice.raw"), out);
    EXPECT_EQ(read_raw<std::uint64_t>("moved.raw"), indices);
  }
  // A run that fails leaves the existing file.
  const std::string before_it = read(folder_ / "out.raw");
  expect_error("run sort large.raw --type f64 -o out.raw --memory 1 --temporary missing", 2,
               "temporary data in missing");
  EXPECT_EQ(read(folder_ / "out.raw"), before_it);
  expect_error(sort + " --memory 1K,1M", 2, "is not a size in bytes");
}

// Returns a command's peak resident memory in bytes. The command must succeed.
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

// Every primitive, with every kind of output, stays within --memory 16M, plus 32 MiB for memory of constant size.
TEST_F(Cli, StaysWithinItsMemory) {
  if (under_sanitizer) GTEST_SKIP() << "a sanitizer takes memory of its own";
  std::vector<std::uint64_t> numbers(5'000'011);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = (i + 1) * 0x9E3779B97F4A7C15u;  // some floats are NaN
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
  // Text takes several times the bytes of its numbers.
  EXPECT_LE(peak_of(folder_, "run sort half.raw --type f32 --memory 16M --temporary ."), most);
}

// If the folder for temporary data is full, or memory is short, the message names the option that helps.
TEST_F(Cli, NamesTheLimitsOfMemoryAndTemporaryData) {
  if (under_sanitizer) GTEST_SKIP() << "a sanitizer reserves addresses";
  write("large.raw", std::string(std::size_t{8} << 20, 'x'));
  expect_error("run sort large.raw --type u64 -o /dev/null --memory 1 --temporary .", 2, "--temporary",
               "trap '' XFSZ; ulimit -f 1024;");
  expect_error("run sort large.raw --type u8 --param indices=true -o /dev/null --also /dev/zero --memory 8G", 2,
               "--memory", "ulimit -v 400000;");
  EXPECT_EQ(run("run sort large.raw --type u8 -o /dev/null --temporary .", "ulimit -v 1000000;").code, 0);
}

// The folder for temporary data must exist even if it is not needed.
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
  // Values of any type of 4 or 8 bytes, given before the splitters; offsets in a file; a table while the keys go to a
  // file.
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
  const auto refused = [&](const std::string& arguments, const std::string& words) {
    expect_refused("run partition keys.raw --type u32 -o not.npy " + arguments, words);
  };
  refused("--op splitters", "needs another input: splitters");
  refused("--op splitters --with bad.raw", "splitter 1, 3, is not above the one before it, 3");
  refused("--param value_bytes=4", "needs another input: values");
  refused("--param value_bytes=16 --with values.raw", "values of 16 bytes cannot be read from a file");
  refused("--with bytes.npy", "the values are u8");
  refused("--with values.npy", "another output: values");
  refused("--param first_bit=25", "beyond a key of 32 bits");
  refused("--param bits=16", "bits is a whole number from 1 to 15");
  refused("--param distinct=3", "distinct shapes generated inputs");
  expect_error("run partition keys.raw --type u32 --table -o -", 2, "both be standard output");
  expect_error("run partition keys.raw --type i32", 2, "a.view('u4')");
  expect_error("run reduce keys.raw --type u32 --table", 2, "reduce has no table");

  // More than two chunks, and not a whole number of them.
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
  // In memory, and in chunks through a temporary file.
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

// If no primitive is named, those that take none of the types are skipped.
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

  // More than two chunks, and not a whole number of them. A run crosses the first chunk boundary; the second boundary
  // is between two runs. Elements of 8 bytes, so that few elements fill a chunk.
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

// Limits and factors have the element type: no conversion through double, and out-of-range values are rejected.
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
  // An empty input has a known size, so the output's header can be written, for a file and for a pipe.
  EXPECT_EQ(run("run scan empty.raw --type u32 -o -").code, 0);
  EXPECT_EQ(run("run scan - --type u32 -o -", ": |").code, 0);
}

TEST_F(Cli, RunAcrossChunks) {
  // All ones: more than one 32 MiB chunk, and not a whole number of them.
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
  expect_error("run reduce odd.raw --type u8 --op product", 2, "u8");
  write("in.raw", "1234");
  expect_error("run reduce in.raw --type u32 --rung smid", 2, "did you mean 'simd'?");
  // A failed run leaves neither an output nor a temporary file.
  write("kept.npy", "the old result");
  expect_error("run reduce odd.raw --type u32 -o kept.npy", 2, "odd.raw");
  EXPECT_EQ(read(folder_ / "kept.npy"), "the old result");
  EXPECT_EQ(files().size(), 4u);
}

}  // namespace
}  // namespace upsweep

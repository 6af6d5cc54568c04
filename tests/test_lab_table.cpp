// Tables, sizes and README markers.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <tuple>

#include "error_of.h"
#include "lab/grid.h"
#include "lab/sizes.h"
#include "lab/table.h"

namespace upsweep::lab {
namespace {

TEST(Sizes, EveryWayToWriteThem) {
  EXPECT_EQ(parse_sizes("1000"), (std::vector<std::size_t>{1000}));
  EXPECT_EQ(parse_sizes("0"), (std::vector<std::size_t>{0}));
  EXPECT_EQ(parse_sizes("64K,3M,1G"), (std::vector<std::size_t>{65536, 3u << 20, 1u << 30}));
  EXPECT_EQ(parse_sizes("2^10..2^12"), (std::vector<std::size_t>{1024, 2048, 4096}));
  EXPECT_EQ(parse_sizes("3..13"), (std::vector<std::size_t>{3, 6, 12}));
  EXPECT_EQ(parse_sizes("1e6,1.5K,2t,010"), (std::vector<std::size_t>{1'000'000, 1536, std::size_t{2} << 40, 10}));
  EXPECT_EQ(parse_size("-n", "281474976710656"), std::size_t{1} << 48);
}

TEST(Sizes, OfMemory) {
  const auto bytes = [](const char* text) { return parse_bytes("--memory", text); };
  EXPECT_EQ(bytes("1000"), 1000u);
  EXPECT_EQ(bytes("2^30"), std::size_t{1} << 30);
  for (const char* text : {"8G", "8g", "8GiB", "8192M", "8e0G"}) EXPECT_EQ(bytes(text), std::size_t{8} << 30) << text;
  for (const char* text : {"8GB", "8gb", "8000MB", "8e9", "8e9B"}) EXPECT_EQ(bytes(text), 8'000'000'000u) << text;
  EXPECT_EQ(bytes("1T"), std::size_t{1} << 40);
  EXPECT_EQ(bytes("1.5G"), std::size_t{3} << 29);
  EXPECT_EQ(bytes("1.1K"), 1126u) << "of 1126.4";
  for (const char* text : {"", "G", "-1G", "+1G", "1,5G", "1G,2G", "1G..2G", "8 GB", "8GBB", "8Gi", "8X", "0x10", "inf",
                           "nan", "1e400", "2^-1", "2^"}) {
    const Error error = error_of([&] { bytes(text); });
    EXPECT_EQ(std::string(error.what()), "--memory: '" + std::string(text) + "' is not a size in bytes");
    EXPECT_NE(error.hint().find("8GB"), std::string::npos);
  }
  EXPECT_STREQ(error_of([&] { bytes("300T"); }).what(), "--memory: 300T bytes are more than any machine holds");
}

TEST(Sizes, WhatIsNoSize) {
  for (const char* text :
       {"",        "x",     "-1",   "1.5", "2^",  "2^99", "1e99", "K",          "1.3K", "1KB",
        "1KiB",    "1e",    "1e-3", "+1",  "inf", "nan",  "1,",   "2^12..2^10", "0..8", "99999999999999999999",
        "999999G", "1 000", "0x10"})
    EXPECT_THROW(parse_sizes(text), Error) << text;
}

TEST(Text, SizesAndTimes) {
  EXPECT_EQ(size_text(1024), "2^10");
  EXPECT_EQ(size_text(512), "512");
  EXPECT_EQ(size_text(1000), "1000");
  EXPECT_EQ(time_text(0.0312), "31.2 ns");
  EXPECT_EQ(time_text(4.5), "4.50 us");
  EXPECT_EQ(time_text(999.9), "1.00 ms");
  EXPECT_EQ(time_text(123456), "123 ms");
  EXPECT_EQ(time_text(2e6), "2.00 s");
}

Record record(const std::string& name, bool peer, std::uint64_t n, double median, double score) {
  Record r;
  r.primitive = "reduce";
  (peer ? r.peer : r.rung) = name;
  r.backend = "cpu";
  r.op = "sum";
  r.type = "f32";
  r.n = n;
  r.input = "uniform";
  r.traffic_bytes = n * 4;
  r.median_us = r.q1_us = r.q3_us = median;
  r.aa_spread = 0.01;
  r.score = score;
  r.checked = true;
  r.device = "a machine";
  r.time = "2025-01-01T00:00:00Z";
  return r;
}

// On a narrow terminal, a table's rows become paragraphs, so that no line wraps. Markdown has no width.
TEST(Grid, OfANarrowTerminal) {
  Grid grid({"rung", "time", ""});
  grid.add({{"a_rung_of_a_long_name (synchronises)"}, {"31.2 ns"}, {"right"}});
  EXPECT_EQ(grid.text({.wraps = true, .width = 40}, 2),
            "  a_rung_of_a_long_name (synchronises)\n    time 31.2 ns\n    right\n");
  EXPECT_EQ(grid.text({.wraps = true, .width = 80}).find("rung  "), 0u);
  EXPECT_EQ(grid.text({.width = 40}), grid.text({.wraps = true, .width = 80})) << "a pipe breaks no lines";
  EXPECT_EQ(grid.text({.markdown = true}), "\n" + grid.markdown());
}

TEST(ScoreTable, SaysWhatSynchronises) {
  Record waits = record("a", false, 1024, 1, 1);
  waits.synchronises = true;
  const std::vector<Record> records{waits, record("b", false, 1024, 2, 0.5)};
  for (const std::string& text : {score_table(records, Terminal{}), sweep_table(records, Terminal{})}) {
    EXPECT_NE(text.find("a (synchronises)"), std::string::npos) << text;
    EXPECT_EQ(text.find("b (synchronises)"), std::string::npos) << text;
  }
}

TEST(ScoreTable, RatiosTiesAndFailures) {
  Record failed = record("broken", false, 1024, 1, 1);
  failed.median_us = std::nullopt;
  const std::string table =
      score_table({record("twice", false, 1024, 5, 0.9), record("equal", false, 1024, 10.05, 0.45),
                   record("theirs", true, 1024, 10, 0.45), record("worse", true, 1024, 20, 0.2), failed},
                  {.width = 60});
  EXPECT_NE(table.find("2.00x"), std::string::npos) << table;
  EXPECT_NE(table.find("="), std::string::npos) << table;
  EXPECT_NE(table.find("(F)"), std::string::npos) << table;
  EXPECT_NE(table.find("####"), std::string::npos) << "a bar if it fits\n" << table;
  EXPECT_EQ(table.find('\033'), std::string::npos) << "no colour unless requested";
}

TEST(ScoreTable, StaysWithinItsWidth) {
  const std::vector<Record> records{record("a_rather_long_name_of_a_rung", false, 1024, 5, 0.9)};
  for (const int width : {60, 80, 120, 200}) {
    std::istringstream lines(score_table(records, {.width = width}));
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(columns(line), static_cast<std::size_t>(width)) << line;
  }
}

TEST(SweepTable, BreaksIntoPartsThatFit) {
  std::vector<Record> records;
  for (int p = 10; p < 28; ++p) records.push_back(record("simd", false, std::uint64_t{1} << p, 1, 0.5));
  const std::string table = sweep_table(records, {.width = 60});
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(columns(line), 60u) << line;
  EXPECT_NE(table.find("2^10"), std::string::npos);
  EXPECT_NE(table.find("2^27"), std::string::npos);
}

class Markers : public testing::Test {
 protected:
  Markers() {
    std::filesystem::create_directories(results_ / "m1");
    std::ofstream file(results_ / "m1" / "reduce.jsonl");
    for (const std::uint64_t n : {1024u, 2048u})
      file << to_json(record("simd", false, n, 1, 0.9)) << "\n" << to_json(record("tbb", true, n, 2, 0.45)) << "\n";
  }
  ~Markers() override { std::filesystem::remove_all(results_); }
  std::string filled(const std::string& text) const { return fill_markers(text, "README.md", results_); }
  // One directory per test: tests run concurrently.
  std::filesystem::path results_ =
      std::filesystem::temp_directory_path() /
      (std::string("upsweep_test_markers_") + testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(Markers, AreFilledAndFillingAgainChangesNothing) {
  const std::string text = "before\n<!-- table:reduce device=m1 n=2^10 -->\nold\n<!-- /table -->\nafter\n";
  const std::string once = filled(text);
  EXPECT_NE(once.find("| **4.1 (0.90)** |"), std::string::npos) << once;
  EXPECT_NE(once.find("tbb (peer)"), std::string::npos);
  EXPECT_EQ(once.find("old"), std::string::npos);
  EXPECT_EQ(once.find("2^11"), std::string::npos) << "only the requested sizes";
  EXPECT_TRUE(once.starts_with("before\n<!-- table:reduce device=m1 n=2^10 -->\n"));
  EXPECT_TRUE(once.ends_with("<!-- /table -->\nafter\n"));
  EXPECT_EQ(filled(once), once);
}

TEST_F(Markers, WhatWasMeasuredAgainTakesTheOldOnesPlace) {
  std::ofstream file(results_ / "m1" / "reduce.jsonl", std::ios::app);
  Record again = record("simd", false, 1024, 4, 0.2);
  again.revision = "f00";
  file << to_json(again) << "\n";
  file.close();
  const std::string text = filled("<!-- table:reduce device=m1 n=2^10 -->\n<!-- /table -->\n");
  EXPECT_NE(text.find("| simd [b] | 1.02 (0.20) |"), std::string::npos) << text;  // no longer the fastest
  EXPECT_NE(text.find("a: revision , 2025-01-01; b: revision f00, 2025-01-01.\n"), std::string::npos) << text;
}

TEST_F(Markers, ColumnsOfAParameter) {
  std::ofstream file(results_ / "m1" / "select.jsonl");
  for (const char* share : {"0.5", "0.01"})
    for (const char* below : {"0", "7"}) {
      Record r = record("simd", false, 1024, *below == '7' ? 8 : std::stod(share), 0.5);
      r.primitive = "select";
      r.params = {{"share", share}, {"below", below}};
      file << to_json(r) << "\n";
    }
  file.close();
  const std::string text = filled("<!-- table:select device=m1 below=0 columns=share -->\n<!-- /table -->\n");
  EXPECT_NE(text.find("| share=0.01 | share=0.5 |"), std::string::npos) << text;
  EXPECT_NE(text.find("| **410 (0.50)** | **8.19 (0.50)** |"), std::string::npos) << text;
  EXPECT_THROW(filled("<!-- table:select device=m1 below=1 -->\n<!-- /table -->"), Error);
}

TEST_F(Markers, ColumnsOfNamesAndASituation) {
  std::ofstream file(results_ / "m1" / "segmented_scan.jsonl");
  for (const char* heads : {"offsets", "flags", "keys"})
    for (const char* situation : {"back_to_back", "warm"}) {
      Record r = record("serial", false, 1024, *situation == 'w' ? 1 : 2, 0.5);
      r.primitive = "segmented_scan";
      r.params.emplace_back("heads", heads);
      r.situation = situation;
      file << to_json(r) << "\n";
    }
  file.close();
  const std::string cold = filled("<!-- table:segmented_scan device=m1 heads=keys -->\n<!-- /table -->\n");
  EXPECT_NE(cold.find("2.05 (0.50)"), std::string::npos) << cold;
  EXPECT_EQ(cold.find("4.1 (0.50)"), std::string::npos) << "from another situation\n" << cold;
  const std::string warm =
      filled("<!-- table:segmented_scan device=m1 heads=keys situation=warm -->\n<!-- /table -->\n");
  EXPECT_NE(warm.find("4.1 (0.50)"), std::string::npos) << warm;
  EXPECT_EQ(warm.find("2.05 (0.50)"), std::string::npos) << "from another situation\n" << warm;
  const std::string columns = filled("<!-- table:segmented_scan device=m1 columns=heads -->\n<!-- /table -->\n");
  for (const char* title : {"heads=flags", "heads=keys", "heads=offsets"})
    EXPECT_NE(columns.find(title), std::string::npos) << title << " in\n" << columns;
}

TEST_F(Markers, TimesByInput) {
  std::ofstream file(results_ / "m1" / "render.jsonl");
  for (const auto& [scene, n, us] : {std::tuple{"pattern", 20u, 30.0}, std::tuple{"rgb", 3u, 8.9}}) {
    Record r = record("simd", false, n, us, 0.5);
    r.primitive = "render";
    r.input = scene;
    file << to_json(r) << "\n";
  }
  file.close();
  const std::string text = filled("<!-- table:render device=m1 columns=input show=time -->\n<!-- /table -->\n");
  EXPECT_NE(text.find("| time | rgb | pattern |"), std::string::npos) << "in the order of sizes\n" << text;
  EXPECT_NE(text.find("| simd | **8.90 us** | **30.0 us** |"), std::string::npos) << text;
  const std::string figure =
      filled("<!-- figure:render device=m1 rung=simd input=pattern show=time --><!-- /figure -->");
  EXPECT_NE(figure.find("-->30.0 us<!--"), std::string::npos) << figure;
  EXPECT_THROW(filled("<!-- table:render device=m1 show=gbs -->\n<!-- /table -->"), Error);
}

TEST_F(Markers, MistakesSayWhere) {
  for (const char* text :
       {"\n<!-- table:reduce device=m1 -->\n", "\n<!-- table:reduce device=m1 colour=red -->\n<!-- /table -->",
        "\n<!-- table:reduce -->\n<!-- /table -->", "\n<!-- table:reduce device=m1 type=i64 -->\n<!-- /table -->"}) {
    try {
      filled(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("README.md:2"), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(filled("<!-- table:reduce device=nowhere -->\n<!-- /table -->"), Error);
}

}  // namespace
}  // namespace upsweep::lab

// Records: field names and their order are part of the format, and records round-trip.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>

#include "lab/record.h"

namespace upsweep::lab {
namespace {

Record sample() {
  Record r;
  r.primitive = "reduce";
  r.rung = "simd";
  r.backend = "cpu";
  r.op = "sum";
  r.type = "f32";
  r.n = std::uint64_t{1} << 40;  // beyond 32 bits
  r.input = "uniform";
  r.params = {{"heads", "offsets"}, {"inclusive", "true"}, {"a", "-0.5"}, {"block", "256"}};
  r.situation = "alone";
  r.samples = 20;
  r.median_us = 12.5;
  r.q1_us = 12.25;
  r.q3_us = 13;
  r.traffic_bytes = 4096;
  r.ceiling = "read";
  r.ceiling_gbs = 40;
  r.score = 0.008192;
  r.checked = true;
  r.aa_spread = 0.01;
  r.device = "a \"quoted\" device";
  r.driver = "Linux";
  r.compiler = "GCC";
  r.flags = "-O3";
  r.revision = "abc-dirty";
  r.run = "20250101T000000-1";
  r.time = "2025-01-01T00:00:00Z";
  return r;
}

TEST(Record, NamesInTheirOrder) {
  const std::string json = to_json(sample());
  std::size_t at = 0;
  for (const char* name :
       {"primitive",     "rung",    "peer",        "backend", "op",        "type",      "n",
        "input",         "params",  "situation",   "samples", "median_us", "q1_us",     "q3_us",
        "traffic_bytes", "ceiling", "ceiling_gbs", "score",   "checked",   "aa_spread", "peer_version",
        "device",        "driver",  "compiler",    "flags",   "revision",  "run",       "time"}) {
    const std::size_t next = json.find("\"" + std::string(name) + "\":", at);
    ASSERT_NE(next, std::string::npos) << name << " in " << json;
    at = next;
  }
  EXPECT_NE(json.find("\"peer\":null"), std::string::npos);
  EXPECT_EQ(json.find('\n'), std::string::npos);
}

TEST(Record, RoundTrip) {
  const std::string json = to_json(sample());
  const Record back = parse_record(json, "test", 1);
  EXPECT_EQ(to_json(back), json);
  EXPECT_EQ(back.n, std::uint64_t{1} << 40);
  EXPECT_EQ(back.params, sample().params);
  EXPECT_EQ(back.situation, "alone");
  EXPECT_EQ(back.name(), "simd");
  EXPECT_FALSE(back.peer);
}

TEST(Record, ThresholdsThatAreNotAsMeasured) {
  EXPECT_EQ(to_json(sample()).find("tuning"), std::string::npos);
  Record tuned = sample();
  tuned.tuning = {{"sort.most_enumerated", 4096}, {"scan.most_for_wave", ~std::uint64_t{0}}};
  const std::string json = to_json(tuned);
  EXPECT_TRUE(json.ends_with(R"("tuning":{"sort.most_enumerated":4096,"scan.most_for_wave":18446744073709551615}})"))
      << json;
  EXPECT_EQ(parse_record(json, "test", 1).tuning, tuned.tuning);
}

// Numbers and booleans are JSON values; names of choices are strings.
TEST(Record, ParametersHaveTheirTypes) {
  EXPECT_NE(to_json(sample()).find(R"("params":{"heads":"offsets","inclusive":true,"a":-0.5,"block":256})"),
            std::string::npos)
      << to_json(sample());
  Record extreme = sample();
  extreme.params = {{"below", "-9223372036854775808"}, {"a", "18446744073709551615"}, {"x", "1e-45"}, {"z", "-0"}};
  EXPECT_EQ(parse_record(to_json(extreme), "test", 1).params, extreme.params);
  EXPECT_NE(to_json(extreme).find(R"("z":-0.0})"), std::string::npos) << to_json(extreme);
}

TEST(Record, NoOperationIsNull) {
  Record r = sample();
  r.op = "";
  EXPECT_NE(to_json(r).find("\"op\":null"), std::string::npos) << to_json(r);
  EXPECT_EQ(parse_record(to_json(r), "test", 1).op, "");
  EXPECT_EQ(type_and_op(r), "f32");
  EXPECT_EQ(type_and_op(sample()), "f32 sum");
}

// Older lines have no situation: back_to_back was the only one.
TEST(Record, WithoutASituationItIsBackToBack) {
  std::string json = to_json(sample());
  const std::string field = "\"situation\":\"alone\",";
  json.erase(json.find(field), field.size());
  EXPECT_EQ(parse_record(json, "test", 1).situation, "back_to_back");
}

TEST(Record, FailedRungHasNoTime) {
  Record r = sample();
  r.checked = false;
  r.median_us = r.q1_us = r.q3_us = r.score = r.aa_spread = std::nullopt;
  const std::string json = to_json(r);
  EXPECT_NE(json.find("\"median_us\":null"), std::string::npos);
  EXPECT_FALSE(parse_record(json, "test", 1).timed());
}

std::string lines_of(const std::vector<Record>& records) {
  RecordWriter writer;
  std::string text;
  for (const Record& r : records)
    for (const std::string& line : writer.lines(r)) text += line + '\n';
  return text;
}

// Returns the records of a file with this text, each as a complete line.
std::vector<std::string> read_lines(const std::string& text) {
  RecordReader reader;
  std::istringstream in(text);
  std::vector<std::string> records;
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);)
    if (const auto record = reader.read(line, "runs.jsonl", ++number)) records.push_back(to_json(*record));
  return records;
}

void expect_unreadable(const std::string& text, const std::string& words) {
  try {
    read_lines(text);
    ADD_FAILURE() << "accepted: " << text;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_file);
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

constexpr const char* sample_header =
    R"({"device":"a \"quoted\" device","driver":"Linux","compiler":"GCC","flags":"-O3","revision":"abc-dirty",)"
    R"("run":"20250101T000000-1","time":"2025-01-01T00:00:00Z","primitive":"reduce","backend":"cpu","op":"sum",)"
    R"("type":"f32","input":"uniform","params":{"heads":"offsets","inclusive":true,"a":-0.5,"block":256},)"
    R"("situation":"alone","samples":20,"ceiling":"read","checked":true})";
constexpr const char* sample_result =
    R"("n":1099511627776,"median_us":12.5,"q1_us":12.25,"q3_us":13.0,"traffic_bytes":4096,"ceiling_gbs":40.0,)"
    R"("aa_spread":0.01})";

TEST(RecordFile, AHeaderAndShortLines) {
  EXPECT_EQ(lines_of({sample(), sample()}),
            fmt::format("{0}\n{{\"rung\":\"simd\",{1}\n{{\"rung\":\"simd\",{1}\n", sample_header, sample_result));
}

TEST(RecordFile, RoundTrip) {
  Record peer = sample(), failed = sample(), other = sample(), ceiling = sample(), launch = sample(), tuned = sample();
  peer.peer = std::exchange(peer.rung, std::nullopt);
  peer.peer_version = "1.0";
  peer.synchronises = true;
  failed.checked = false;
  failed.ran = "serial";
  failed.median_us = failed.q1_us = failed.q3_us = failed.score = failed.aa_spread = std::nullopt;
  other.type = "u8";
  other.params.clear();
  other.situation = "warm";
  ceiling.primitive = "ceiling";
  ceiling.op = "";
  launch.ceiling = "launch";
  launch.ceiling_gbs = std::nullopt;
  launch.score = 0.5;
  tuned.tuning = {{"sort.most_enumerated", 4096}};
  const std::vector<Record> records{sample(), peer, failed, other, ceiling, launch, tuned, sample()};
  std::vector<std::string> complete;
  for (const Record& r : records) complete.push_back(to_json(r));
  const std::string text = lines_of(records);
  EXPECT_EQ(read_lines(text), complete) << text;
  EXPECT_NE(text.find(R"({"primitive":"ceiling","rung":"simd","op":null,)"), text.npos)
      << "null, because the header has an operation:\n"
      << text;
  EXPECT_EQ(text.find("peer\":null"), text.npos) << text;
  EXPECT_EQ(text.find("score"), text.rfind("score")) << "only the one of the launch:\n" << text;
}

TEST(RecordFile, TwoRuns) {
  Record other = sample();
  other.run = "20250101T000001-2";
  other.device = "another device";
  other.type = "u8";
  const std::vector<std::string> complete{to_json(sample()), to_json(other), to_json(other), to_json(sample())};
  const std::string text = lines_of({sample(), other, other, sample()});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4 + 3) << "a header whenever the run changes";
  EXPECT_EQ(read_lines(text), complete);
}

// A record takes each field from its header, unless it has the field itself, with another value or null.
TEST(RecordFile, ARecordOverridesItsHeader) {
  const auto read = [](const std::string& own) {
    const std::vector<std::string> records =
        read_lines(fmt::format("{}\n{{{},\"rung\":\"simd\",{}\n", sample_header, own, sample_result));
    return parse_record(records.at(0), "test", 1);
  };
  EXPECT_EQ(read(R"("type":"u8")").type, "u8");
  EXPECT_EQ(read(R"("type":"u8")").op, "sum");
  EXPECT_EQ(read(R"("op":null)").op, "");
  EXPECT_TRUE(read(R"("params":{})").params.empty());
  EXPECT_EQ(read(R"("samples":4)").samples, 4);
  EXPECT_FALSE(read(R"("checked":false)").checked);
  EXPECT_EQ(read(R"("score":0.25)").score, 0.25);
}

TEST(RecordFile, OlderFiles) {
  EXPECT_EQ(read_lines(to_json(sample())), std::vector{to_json(sample())}) << "all fields in every record";
  // An older header has only machine and program; records name it by `run` and have all other fields.
  const auto header = [](const std::string& device, const std::string& run) {
    return fmt::format(
        R"({{"device":"{}","driver":"d","compiler":"c","flags":"f","revision":"r","run":"{}","time":"t"}})"
        "\n",
        device, run);
  };
  const std::string record =
      R"({"primitive":"reduce","rung":"simd","peer":null,"backend":"cpu","op":"sum","type":"f32","n":1024,)"
      R"("input":"uniform","params":{},"samples":20,"median_us":10.0,"q1_us":10.0,"q3_us":10.0,"traffic_bytes":4100,)"
      R"("ceiling":"read","ceiling_gbs":40.0,"score":0.9,"checked":true,"aa_spread":0.01,"peer_version":null,"run":"x"})";
  const std::vector<std::string> old = read_lines(header("first", "x") + header("second", "y") + record + '\n');
  ASSERT_EQ(old.size(), 1u);
  const Record r = parse_record(old[0], "test", 1);
  EXPECT_EQ(r.device, "first");
  EXPECT_EQ(r.situation, "back_to_back");
  EXPECT_EQ(r.score, 0.9) << "as recorded";
  // Such files stay as they are if records are appended.
  const std::string both = header("first", "x") + record + '\n' + lines_of({sample()}) + record + '\n';
  EXPECT_EQ(read_lines(both), (std::vector{old[0], to_json(sample()), old[0]}));
}

TEST(RecordFile, Truncated) {
  const std::string text = lines_of({sample(), sample()});
  const std::size_t second = text.find('\n') + 1;
  expect_unreadable(text.substr(0, text.size() - 5), "runs.jsonl:3: not a record: invalid JSON");
  expect_unreadable(text.substr(0, second - 5), "runs.jsonl:1: not a record: invalid JSON");
  expect_unreadable(text.substr(second), "runs.jsonl:1: not a record: no preceding line describes its run");
  expect_unreadable(R"({"n":1,"run":"x"})", "no preceding line describes its run, x");
  expect_unreadable(R"({"device":"d"})", "'driver' is missing");
}

TEST(Record, SaysWhichRungRan) {
  Record r = sample();
  EXPECT_TRUE(r.own());
  r.ran = "serial";
  EXPECT_FALSE(r.own());
  EXPECT_EQ(parse_record(to_json(r), "test", 1).ran, "serial");
  r.rung = "default";
  EXPECT_TRUE(r.own());
}

TEST(Record, MadeFromAMeasurement) {
  const Rung rung{.primitive = "reduce", .name = "simd", .backend = Backend::cpu};
  const Measurement measured{.rung = &rung,
                             .traffic = {1000, "read"},
                             .checked = true,
                             .tuning = {.threads = 3},
                             .samples = 10,
                             .time = {{1, 2, 3}, 0.1}};
  Ceiling ceiling{.kind = "read", .n = 1000, .bytes = 4000, .measured = {.time = {{4, 4, 4}, 0}}};
  Case c{.type = Type::f32, .operation = Op::max, .n = 249};
  const auto made = [&](const Ceiling* held_against) {
    return make_record(identify({.device = "d"}), *find_primitive("reduce"), c, Situation::warm, measured,
                       held_against);
  };
  const Record r = made(&ceiling);
  EXPECT_DOUBLE_EQ(*r.ceiling_gbs, 1);  // 4000 bytes in 4 us
  EXPECT_DOUBLE_EQ(*r.score, 0.5);      // 1000 bytes in 2 us, relative to the ceiling
  EXPECT_EQ(r.device, "d");
  EXPECT_EQ(r.op, "max");
  EXPECT_EQ(r.situation, "warm");
  EXPECT_EQ(r.params, (decltype(r.params){{"threads", "3"}}));
  EXPECT_FALSE(r.revision.empty());
  // 2025-01-01T00:00:00Z
  ASSERT_EQ(r.time.size(), 20u);
  EXPECT_EQ(r.time[10], 'T');

  ceiling.bytes = 0;  // a launch: the ceiling is its time
  EXPECT_DOUBLE_EQ(*made(&ceiling).score, 2);
  EXPECT_FALSE(made(nullptr).score);
}

TEST(Record, PeerIsNamedAsSuch) {
  const Rung rung{.primitive = "reduce", .name = "std_reduce", .peer = true, .version = "libstdc++ 12"};
  const Record r =
      make_record(identify({}), *find_primitive("reduce"), {}, Situation::back_to_back, {.rung = &rung}, nullptr);
  EXPECT_EQ(r.peer, "std_reduce");
  EXPECT_EQ(r.peer_version, "libstdc++ 12");
  EXPECT_FALSE(r.rung);
}

TEST(Record, SaysWhatSynchronises) {
  Rung rung{.primitive = "reduce", .name = "r"};
  const auto json_of = [&] {
    return to_json(make_record(identify({}), *find_primitive("reduce"), {}, Situation::back_to_back,
                               {.rung = &rung, .time = {{1, 2, 3}, 0}}, nullptr));
  };
  EXPECT_EQ(json_of().find("synchronises"), std::string::npos) << "as in lines from before the field existed";
  EXPECT_FALSE(parse_record(json_of(), "test", 1).synchronises);
  rung.synchronises = true;
  EXPECT_NE(json_of().find("\"synchronises\":true"), std::string::npos);
  EXPECT_TRUE(parse_record(json_of(), "test", 1).synchronises);
}

void expect_bad(const std::string& line, const std::string& words) {
  try {
    parse_record(line, "runs.jsonl", 7);
    ADD_FAILURE() << "accepted: " << line;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_file);
    EXPECT_NE(std::string(error.what()).find("runs.jsonl:7"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
  }
}

TEST(Record, BadLinesSayWhereAndWhat) {
  expect_bad("{\"primitive\": \"reduce\"", "invalid JSON");
  expect_bad("[1, 2]", "object");
  expect_bad("{\"primitive\": \"reduce\"}", "rung");
  std::string wrong_type = to_json(sample());
  wrong_type.replace(wrong_type.find("\"n\":"), 5, "\"n\":\"x\",\"m\":1");
  expect_bad(wrong_type, "number");
  std::string neither = to_json(sample());
  neither.replace(neither.find("\"simd\""), 6, "null");
  expect_bad(neither, "exactly one of 'rung' and 'peer'");
}

// Replaces a field's value in the sample.
std::string with(const std::string& name, const std::string& value) {
  std::string json = to_json(sample());
  const std::size_t begin = json.find("\"" + name + "\":") + name.size() + 3;
  const std::size_t end = json.find_first_of(name == "params" ? "}" : ",}", begin) + (name == "params");
  return json.replace(begin, end - begin, value);
}

// Rejects text that a terminal, a table or a picture would misinterpret, and impossible numbers.
TEST(Record, FieldsAreCheckedAtTheDoor) {
  EXPECT_EQ(to_json(parse_record(with("n", "7"), "test", 1)), with("n", "7"));
  for (const char* name : {"primitive", "rung", "backend", "op", "type", "input", "situation", "ceiling", "device",
                           "driver", "compiler", "flags", "revision", "run", "time"}) {
    for (const char* text : {R"("\u001b[2J")", R"("a\nb")", R"("\u0000")", R"("\u007f")", R"("\u009b2J")"})
      expect_bad(with(name, text), "'" + std::string(name) + "' has a control character");
    expect_bad(with(name, "7"), "'" + std::string(name) + "' must be a string");
    expect_bad(with(name, '"' + std::string(1001, 'a') + '"'), "more than 1000 bytes");
  }
  expect_bad(with("params", R"({"a\nb":1})"), "control character");
  expect_bad(with("params", R"({"a":"\u001b"})"), "control character");
  expect_bad(with("params", R"({"a":{}})"), "texts, numbers and booleans");
  expect_bad(with("params", "[]"), "object");
  for (const char* name : {"n", "samples", "traffic_bytes"})
    for (const char* number : {"-1", "0.5", "1e3", "18446744073709551615", "null", "\"1\""})
      expect_bad(with(name, number), "'" + std::string(name) + "' must be a whole number");
  for (const char* name : {"median_us", "q1_us", "q3_us"})
    for (const char* number : {"-1", "0", "1e-320", "1e300", "true"})
      expect_bad(with(name, number), "'" + std::string(name) + "' must be a number from");
  expect_bad(with("median_us", "12"), "quartiles");
  expect_bad(with("q3_us", "null"), "quartiles");
  for (const char* name : {"ceiling_gbs", "score", "aa_spread"}) expect_bad(with(name, "-1"), "must be a number from");
  std::string fast = with("traffic_bytes", "1000000000000000000");
  fast.erase(fast.find("\"score\""), fast.find("\"checked\"") - fast.find("\"score\""));
  expect_bad(fast.replace(fast.find("40.0"), 4, "0.01"), "no possible score");
  expect_bad(with("checked", "1"), "true or false");
}

TEST(Record, LinesHaveAnEnd) {
  const auto path = std::filesystem::temp_directory_path() / "upsweep_test_long_line.jsonl";
  std::ofstream(path) << to_json(sample()) << '\n' << std::string(1 << 20, ' ') << '\n';
  try {
    read_records(path);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(":2: not a record: longer than 64 KiB"), std::string::npos)
        << error.what();
  }
  std::ofstream(path) << to_json(sample());  // without a newline
  EXPECT_EQ(read_records(path).size(), 1u);
  std::filesystem::remove(path);
}

TEST(Record, FilesOfRecords) {
  const auto path = std::filesystem::temp_directory_path() / "upsweep_test_record.jsonl";
  {
    Record larger = sample(), again = sample(), elsewhere = sample();
    larger.n *= 2;
    again.median_us = *again.q3_us;
    elsewhere.device = "another";
    std::ofstream file(path);
    for (const Record& r : {sample(), larger, again, elsewhere}) file << to_json(r) << "\n\n";
  }
  const auto records = read_records(path);
  ASSERT_EQ(records.size(), 3u);  // a repeated measurement replaces the first one, in its position
  EXPECT_EQ(records[0].median_us, sample().q3_us);
  EXPECT_EQ(records[1].n, 2 * sample().n);
  EXPECT_EQ(records[2].device, "another");
  { std::ofstream empty(path); }
  EXPECT_THROW(read_records(path), Error);
  std::filesystem::remove(path);
  EXPECT_THROW(read_records(path), Error);
}

}  // namespace
}  // namespace upsweep::lab

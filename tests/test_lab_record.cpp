// Records: field names and their order are part of the format, and reading returns what was written.
#include <gtest/gtest.h>

#include <fstream>

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
  r.score = 0.75;
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

TEST(Record, WhatARunHasInCommonIsOneLine) {
  Record first = sample(), second = sample(), other = sample();
  second.n = 5;
  other.run = "20250101T000001-2";
  other.device = "another device";
  RecordWriter writer;
  std::vector<std::string> lines;
  for (const Record* r : {&first, &second, &other, &first})
    for (std::string& line : writer.lines(*r)) lines.push_back(std::move(line));
  ASSERT_EQ(lines.size(), 7u) << "a line for each of three runs in a row, and four records";
  for (const char* name : {"\"device\"", "\"flags\"", "\"time\""}) EXPECT_EQ(lines[2].find(name), lines[2].npos) << name;
  RecordReader reader;
  std::vector<std::string> read;
  for (const std::string& line : lines)
    if (const auto record = reader.read(line, "test", 1)) read.push_back(to_json(*record));
  EXPECT_EQ(read, (std::vector{to_json(first), to_json(second), to_json(other), to_json(first)}));
  EXPECT_EQ(to_json(*RecordReader().read(to_json(first), "test", 1)), to_json(first)) << "a file without such lines";
  EXPECT_THROW(RecordReader().read(lines[1], "test", 1), Error) << "a record without its run";
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
  EXPECT_DOUBLE_EQ(*r.score, 0.5);      // 1000 bytes in 2 us, relative to that
  EXPECT_EQ(r.device, "d");
  EXPECT_EQ(r.op, "max");
  EXPECT_EQ(r.situation, "warm");
  EXPECT_EQ(r.params, (decltype(r.params){{"threads", "3"}}));
  EXPECT_FALSE(r.revision.empty());
  // 2025-01-01T00:00:00Z
  ASSERT_EQ(r.time.size(), 20u);
  EXPECT_EQ(r.time[10], 'T');

  ceiling.bytes = 0;  // a launch: its time is the ceiling
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
  expect_bad("{\"primitive\": \"reduce\"", "no valid JSON");
  expect_bad("[1, 2]", "object");
  expect_bad("{\"primitive\": \"reduce\"}", "rung");
  std::string wrong_type = to_json(sample());
  wrong_type.replace(wrong_type.find("\"n\":"), 5, "\"n\":\"x\",\"m\":1");
  expect_bad(wrong_type, "number");
  std::string neither = to_json(sample());
  neither.replace(neither.find("\"simd\""), 6, "null");
  expect_bad(neither, "rung or peer");
}

// Replaces the value of a field of the sample.
std::string with(const std::string& name, const std::string& value) {
  std::string json = to_json(sample());
  const std::size_t begin = json.find("\"" + name + "\":") + name.size() + 3;
  const std::size_t end = json.find_first_of(name == "params" ? "}" : ",}", begin) + (name == "params");
  return json.replace(begin, end - begin, value);
}

// What a terminal, a table or a picture would take for something else, and numbers that no measurement has.
TEST(Record, FieldsAreCheckedAtTheDoor) {
  EXPECT_EQ(to_json(parse_record(with("n", "7"), "test", 1)), with("n", "7"));
  for (const char* name : {"primitive", "rung", "backend", "op", "type", "input", "situation", "ceiling", "device",
                           "driver", "compiler", "flags", "revision", "run", "time"}) {
    for (const char* text : {R"("\u001b[2J")", R"("a\nb")", R"("\u0000")", R"("\u007f")", R"("\u009b2J")"})
      expect_bad(with(name, text), "'" + std::string(name) + "' has a control character");
    expect_bad(with(name, "7"), "'" + std::string(name) + "' has to be a string");
    expect_bad(with(name, '"' + std::string(1001, 'a') + '"'), "more than 1000 bytes");
  }
  expect_bad(with("params", R"({"a\nb":1})"), "control character");
  expect_bad(with("params", R"({"a":"\u001b"})"), "control character");
  expect_bad(with("params", R"({"a":{}})"), "texts, numbers and booleans");
  expect_bad(with("params", "[]"), "object");
  for (const char* name : {"n", "samples", "traffic_bytes"})
    for (const char* number : {"-1", "0.5", "1e3", "18446744073709551615", "null", "\"1\""})
      expect_bad(with(name, number), "'" + std::string(name) + "' has to be a whole number");
  for (const char* name : {"median_us", "q1_us", "q3_us"})
    for (const char* number : {"-1", "0", "1e-320", "1e300", "true"})
      expect_bad(with(name, number), "'" + std::string(name) + "' has to be a number from");
  expect_bad(with("median_us", "12"), "quartiles");
  expect_bad(with("q3_us", "null"), "quartiles");
  for (const char* name : {"ceiling_gbs", "score", "aa_spread"})
    expect_bad(with(name, "-1"), "has to be a number from");
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

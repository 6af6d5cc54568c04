// One measurement as one JSON line, under names that never change, so that any tool can read any run. What all records of
// an invocation have in common, the machine and the program, is a line before them, to which they refer by `run`; in
// older files every record says it all.
#pragma once
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/platform.h"
#include "lab/default_rung.h"
#include "lab/primitive.h"
#include "lab/time.h"

namespace upsweep::lab {

struct Record {
  std::string primitive;
  std::optional<std::string> rung, peer;  // exactly one of them
  std::optional<std::string> ran;         // the rung that did the work, if another one was named
  std::string backend, op, type;          // op is empty if the primitive leaves no choice
  std::uint64_t n = 0;
  std::string input;
  std::vector<std::pair<std::string, std::string>> params;  // values as text: 0.5, true, offsets
  std::string situation = "back_to_back";
  int samples = 0;
  // Microseconds per call; nothing for a contestant that failed its check.
  std::optional<double> median_us, q1_us, q3_us;
  std::uint64_t traffic_bytes = 0;
  std::string ceiling;                // "read", "write", "copy", "launch"
  std::optional<double> ceiling_gbs;  // 1e9 bytes per second; nothing for "launch", or if not measured
  std::optional<double> score;        // traffic / time / ceiling
  bool checked = false;
  std::optional<double> aa_spread;  // relative
  std::optional<std::string> peer_version;
  bool synchronises = false;  // waits for the device: timed by the calls themselves, not by graph replays
  std::string device, driver, compiler, flags, revision, run, time;

  const std::string& name() const { return rung ? *rung : *peer; }
  // False for the time of another rung under this one's name. The default is always another one.
  bool own() const { return !ran || !rung || *ran == *rung || *rung == default_name; }
  bool timed() const { return median_us.has_value(); }
  Timing timing() const {
    return {{q1_us.value_or(0), median_us.value_or(0), q3_us.value_or(0)}, aa_spread.value_or(0)};
  }
  double gbs() const { return gigabytes_per_second(traffic_bytes, median_us.value_or(0)); }
};

// Shared by all records of one invocation.
struct RunIdentity {
  Description description;
  std::string run;   // one id per invocation: start time and process
  std::string time;  // ISO 8601, UTC
};
RunIdentity identify(const Description& description);

// `ceiling` is the one that the measurement's traffic names, or null.
Record make_record(const RunIdentity& identity, const Primitive& primitive, const Case& c, Situation situation,
                   const Measurement& measured, const Ceiling* ceiling);
// A ceiling is a record too, relative to itself: its score is 1.
Record make_record(const RunIdentity& identity, Backend backend, const Ceiling& ceiling);

// The whole record in one line, no newline.
std::string to_json(const Record& record);
// Throws Error(bad_file), naming `source` and the line, if the line is not a record. Ignores unknown names, so that
// newer files can be read.
Record parse_record(const std::string& line, const std::string& source, std::size_t line_number);

// The lines of a file, each without its newline: the common line of a run where one begins, and a record.
class RecordWriter {
 public:
  std::vector<std::string> lines(const Record& record);

 private:
  std::string run_;  // the last common line
};
class RecordReader {
 public:
  // Returns nothing for a common line. Throws as parse_record(), also for a record whose run has no line before it.
  std::optional<Record> read(const std::string& line, const std::string& source, std::size_t line_number);

 private:
  std::map<std::string, Record> runs_;  // the common fields, by run
};

// Returns the case in words: the same for two records of one case, on any machine.
std::string case_of(const Record& record);
// "i32 sum", or the type alone.
std::string type_and_op(const Record& record);

// Reads a file of JSON lines; "-" is standard input. Skips empty lines. If a machine measured a case several times, the
// last record takes the position of the first.
std::vector<Record> read_records(const std::filesystem::path& path);

}  // namespace upsweep::lab

// One measurement per JSON line, with field names that never change, so that any tool can read any run.
//
// Files are compact. A line without `n` is the header of a run, and the lines after it are the run's records. A record
// inherits the fields that it lacks from its run's header; a field that neither has is null. The header has machine and
// program, and the first record's values of the fields in which a run's records seldom differ. A record has a score
// only if it cannot be computed from traffic, time and ceiling.
//
// Older formats are read as well: in one, a record names its run by `run`; in another, every record has all fields.
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

// Thresholds that differ from their measured values: "sort.most_enumerated", 4096.
using TunedValues = std::vector<std::pair<std::string, std::uint64_t>>;

struct Record {
  std::string primitive;
  std::optional<std::string> rung, peer;  // exactly one of them
  std::optional<std::string> ran;         // the rung that did the work, if not the named one
  std::string backend, op, type;          // op is empty if the primitive has no operations
  std::uint64_t n = 0;
  std::string input;
  std::vector<std::pair<std::string, std::string>> params;  // values as text: 0.5, true, offsets
  std::string situation = "back_to_back";
  int samples = 0;
  // Microseconds per call; empty for a contestant that failed its check.
  std::optional<double> median_us, q1_us, q3_us;
  std::uint64_t traffic_bytes = 0;
  std::string ceiling;                // "read", "write", "copy", "launch"
  std::optional<double> ceiling_gbs;  // 1e9 bytes per second; empty for "launch", or if not measured
  std::optional<double> score;        // traffic / time / ceiling; for "launch", the ceiling's time / time
  bool checked = false;
  std::optional<double> aa_spread;  // relative
  std::optional<std::string> peer_version;
  bool synchronises = false;  // waits for the device: timed per call, not by graph replay
  std::string device, driver, compiler, flags, revision, run, time;
  TunedValues tuning;

  const std::string& name() const { return rung ? *rung : *peer; }
  // False if another rung did the work under this rung's name. Always true for the default, whose purpose is to run
  // another rung.
  bool own() const { return !ran || !rung || *ran == *rung || *rung == default_name; }
  bool timed() const { return median_us.has_value(); }
  Timing timing() const {
    return {{q1_us.value_or(0), median_us.value_or(0), q3_us.value_or(0)}, aa_spread.value_or(0)};
  }
  double gbs() const { return gigabytes_per_second(traffic_bytes, median_us.value_or(0)); }
};

// The fields that all records of one invocation share.
struct RunIdentity {
  Description description;
  std::string run;   // one id per invocation: start time and process
  std::string time;  // ISO 8601, UTC
  TunedValues tuning{};
};
RunIdentity identify(const Description& description);

// Makes the record of a measurement, with times rounded to the digits that are not noise. `ceiling` is the ceiling that
// the measurement's traffic names, or null.
Record make_record(const RunIdentity& identity, const Primitive& primitive, const Case& c, Situation situation,
                   const Measurement& measured, const Ceiling* ceiling);
// Makes the record of a ceiling relative to itself: its score is 1.
Record make_record(const RunIdentity& identity, Backend backend, const Ceiling& ceiling);

// Formats a record as one line with all fields, without a newline.
std::string to_json(const Record& record);
// Parses such a line. Throws Error(bad_file), with `source` and the line number, if it is not a record. Ignores unknown
// fields, so that newer files can be read.
Record parse_record(const std::string& line, const std::string& source, std::size_t line_number);

// Formats records as the compact lines of a file.
class RecordWriter {
 public:
  // Returns the record's line, after a header if the record begins a run. The lines have no newlines.
  std::vector<std::string> lines(const Record& record);

 private:
  std::optional<Record> first_;  // of the current run
};
// Parses such lines, in the order of the file.
class RecordReader {
 public:
  // Returns nullopt for a header. Throws like parse_record(), and for a record whose run has no header.
  std::optional<Record> read(const std::string& line, const std::string& source, std::size_t line_number);

 private:
  std::map<std::string, std::string> headers_;  // lines, by run
  std::string current_;                         // the run of the last header
};

// Describes a record's case. The text is the same for all records of a case, on any machine.
std::string case_of(const Record& record);
// Returns "i32 sum", or the type alone if there is no operation.
std::string type_and_op(const Record& record);

// Reads a file of JSON lines; "-" is standard input. Skips empty lines. If a machine measured a case several times,
// only the last record is kept, at the position of the first.
std::vector<Record> read_records(const std::filesystem::path& path);

}  // namespace upsweep::lab

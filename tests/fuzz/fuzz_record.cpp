// Feeds arbitrary bytes to the record reader as one line. It must read them or reject them with one clear line.
// Accepted records must round-trip, and their tables and plots must be text without control characters.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "lab/plot.h"
#include "lab/record.h"
#include "lab/table.h"

using namespace upsweep;

namespace {

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "fuzz_record: %s\n", what);
  std::abort();
}

bool printable(const std::string& text, bool lines) {
  for (const char c : text)
    if ((static_cast<unsigned char>(c) < ' ' && !(lines && c == '\n')) || c == '\x7f') return false;
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lab::Record record;
  try {
    record = lab::parse_record(std::string(reinterpret_cast<const char*>(data), size), "stdin", 1);
  } catch (const Error& error) {
    require(error.code() == Code::bad_file, "refused with a code other than bad_file");
    require(printable(error.what(), false), "unprintable character in the message");
    require(!error.hint().empty(), "no hint");
    return 0;
  }
  const std::string complete = to_json(record);
  require(complete == to_json(lab::parse_record(complete, "stdin", 1)), "the record does not round-trip");
  lab::RecordReader reader;
  std::optional<lab::Record> again;
  for (const std::string& line : lab::RecordWriter().lines(record)) again = reader.read(line, "stdin", 1);
  require(again && to_json(*again) == complete, "the record does not round-trip through a file");
  require(printable(case_of(record), false), "unprintable character in the case");
  if (record.timed() && record.primitive != "ceiling" && record.n > 0 && record.traffic_bytes > 0)
    require(printable(lab::plot_svg({record}), true), "unprintable character in the picture");
  require(printable(lab::score_table({record}, {}) + lab::sweep_table({record}, {}), true),
          "unprintable character in the table");
  return 0;
}

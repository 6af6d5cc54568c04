// From instruction addresses to source lines, by one run of a symboliser for a whole report.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace upsweep::simt {

struct Line {
  std::string file = "?";  // base name
  unsigned line = 0;
};
using Lines = std::unordered_map<std::uint32_t, Line>;

// The line of the instruction before each return address (relative to the library), inlined calls seen through to the
// innermost. Without a symboliser every place is "?".
Lines resolve(std::vector<std::uint32_t> places);

// A place in an issue's text is written so that it can be found again when the report is taken, and becomes
// "file:line".
std::string place_text(std::uint32_t place);
void collect_places(const std::string& text, std::vector<std::uint32_t>& places);
std::string replace_places(const std::string& text, const Lines& lines);

}  // namespace upsweep::simt

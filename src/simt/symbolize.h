// Maps instruction addresses to source lines, with one run of a symboliser per report.
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

// Returns the line of the instruction before each return address (relative to the library): that of the innermost
// inlined frame outside the CUDA surface and the standard library. Without a symboliser every place is "?".
Lines resolve(std::vector<std::uint32_t> places);

// A place in an issue's text is a mark that becomes "file:line" when the report is taken.
std::string place_text(std::uint32_t place);
void collect_places(const std::string& text, std::vector<std::uint32_t>& places);
std::string replace_places(const std::string& text, const Lines& lines);

}  // namespace upsweep::simt

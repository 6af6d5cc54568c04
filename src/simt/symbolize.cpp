#include "simt/symbolize.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "simt/module.h"

namespace upsweep::simt {
namespace {

constexpr char open_mark[] = "@{";
constexpr char close_mark = '}';

// Calls f(begin, end, place) for every mark in the text.
template <class F>
void for_each_place(const std::string& text, F&& f) {
  for (std::size_t at = 0; (at = text.find(open_mark, at)) != std::string::npos;) {
    const std::size_t digits = at + 2, end = text.find(close_mark, digits);
    if (end == std::string::npos) return;
    std::uint32_t place = 0;
    std::from_chars(text.data() + digits, text.data() + end, place, 16);
    f(at, end + 1, place);
    at = end + 1;
  }
}

bool runnable(const char* program) {
  std::string path = std::getenv("PATH") ? std::getenv("PATH") : "/usr/bin:/bin";
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    if (access((path.substr(begin, end - begin) + "/" + program).c_str(), X_OK) == 0) return true;
    begin = end + 1;
  }
  return false;
}

// Parses "path:line[:column]", as llvm-symbolizer and addr2line both print it.
Line parse(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  if (const auto note = text.find(" (discriminator"); note != std::string::npos) text.resize(note);
  if (const auto slash = text.rfind('/'); slash != std::string::npos) text.erase(0, slash + 1);
  const auto colon = text.find(':');
  Line line;
  if (colon == std::string::npos || text[0] == '?') return line;
  line.file = text.substr(0, colon);
  line.line = static_cast<unsigned>(std::strtoul(text.c_str() + colon + 1, nullptr, 10));
  return line;
}

// True for the CUDA surface and the standard library, whose inlined frames are skipped: __syncthreads() is reported at
// the kernel's line, not at cuda.h's.
bool is_plumbing(const std::string& path) {
  return path.find("/simt/cuda.h") != std::string::npos || path.find("/simt/vector_types.h") != std::string::npos ||
         path.find("/simt/async.h") != std::string::npos || path.find("/include/c++/") != std::string::npos;
}

}  // namespace

std::string place_text(std::uint32_t place) {
  char text[24];
  std::snprintf(text, sizeof text, "@{%x}", place);
  return text;
}

void collect_places(const std::string& text, std::vector<std::uint32_t>& places) {
  for_each_place(text, [&](std::size_t, std::size_t, std::uint32_t place) { places.push_back(place); });
}

std::string replace_places(const std::string& text, const Lines& lines) {
  std::string result;
  std::size_t copied = 0;
  for_each_place(text, [&](std::size_t begin, std::size_t end, std::uint32_t place) {
    result += text.substr(copied, begin - copied);
    const Line& line = lines.at(place);
    result += line.file + ":" + std::to_string(line.line);
    copied = end;
  });
  return result + text.substr(copied);
}

Lines resolve(std::vector<std::uint32_t> places) {
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  Lines lines;
  for (const std::uint32_t place : places) lines[place];
  if (places.empty()) return lines;

  const char* program = nullptr;
  for (const char* candidate : {"llvm-symbolizer-19", "llvm-symbolizer", "addr2line"})
    if (!program && runnable(candidate)) program = candidate;
  if (!program) return lines;
  // Addresses are passed in a file, because a report can have more of them than fit on a command line.
  char list[] = "/tmp/upsweep-places-XXXXXX";
  const int file = mkstemp(list);
  if (file < 0) return lines;
  std::string input;
  char address[24];
  for (const std::uint32_t place : places) {
    std::snprintf(address, sizeof address, "%#x\n", place - 1);
    input += address;
  }
  const bool written = write(file, input.data(), input.size()) == static_cast<ssize_t>(input.size());
  close(file);
  if (written) {
    const bool llvm = program[0] == 'l';
    const std::string command = std::string(program) + " -a -i" + (llvm ? " --functions=none --output-style=GNU" : "") +
                                " -e '" + module().path() + "' < " + list + " 2>/dev/null";
    if (FILE* output = popen(command.c_str(), "r")) {
      // Per address: one line with the address, then one line per frame, innermost first.
      char text[4096];
      std::size_t asked = 0;  // addresses seen so far
      bool found = false;
      while (std::fgets(text, sizeof text, output)) {
        if (std::strncmp(text, "0x", 2) == 0) {
          ++asked;
          found = false;
        } else if (asked > 0 && asked <= places.size() && !found) {
          lines[places[asked - 1]] = parse(text);
          found = !is_plumbing(text);
        }
      }
      pclose(output);
    }
  }
  unlink(list);
  return lines;
}

}  // namespace upsweep::simt

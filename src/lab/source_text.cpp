#include "lab/source_text.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace upsweep::lab {

namespace {

std::vector<std::string> read_lines(const std::string& file) {
  namespace fs = std::filesystem;
  std::error_code none;
  for (const auto& entry : fs::recursive_directory_iterator(UPSWEEP_KERNEL_SOURCE, none)) {
    if (entry.path().filename() != file) continue;
    std::vector<std::string> lines;
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) {
      line.erase(0, std::min(line.find_first_not_of(' '), line.size()));
      lines.push_back(std::move(line));
    }
    return lines;
  }
  return {};
}

}  // namespace

const std::string& SourceText::line(const std::string& file, unsigned number) {
  static const std::string nothing;
  auto found = files_.find(file);
  if (found == files_.end()) found = files_.emplace(file, read_lines(file)).first;
  const std::vector<std::string>& lines = found->second;
  return number >= 1 && number <= lines.size() ? lines[number - 1] : nothing;
}

}  // namespace upsweep::lab

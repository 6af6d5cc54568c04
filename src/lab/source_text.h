// Source lines of the kernels, for the tables per source line.
#pragma once
#include <map>
#include <string>
#include <vector>

namespace upsweep::lab {

// Reads the source tree that the program was built from; if it is missing, every line is "".
class SourceText {
 public:
  // Returns a line without its indentation. `file` is a base name, which is unique among kernel files.
  const std::string& line(const std::string& file, unsigned number);

 private:
  std::map<std::string, std::vector<std::string>> files_;
};

}  // namespace upsweep::lab

// Lines of the kernels' source, for tables by source line.
#pragma once
#include <map>
#include <string>
#include <vector>

namespace upsweep::lab {

// Reads the source tree that the program was built from, where it is still there; elsewhere every line is "".
class SourceText {
 public:
  // The text of a line without its indentation. `file` is a base name: kernels' files differ in theirs.
  const std::string& line(const std::string& file, unsigned number);

 private:
  std::map<std::string, std::vector<std::string>> files_;
};

}  // namespace upsweep::lab

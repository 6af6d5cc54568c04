// The command-line options of upsweep run.
#pragma once
#include <string>
#include <vector>

#include "files/array_file.h"

namespace upsweep::app {

struct RunOptions {
  std::string primitive, input = "-", output;
  std::string rung, backend = "cpu", type, out_type, op, format = "auto", out_format = "auto";
  std::vector<std::string> with, also, params;
  std::string size, devices, memory, temporary;
  bool table = false, json = false;
};

// Returns the format that --format or --out-format names.
FileFormat file_format_of(const std::string& name);

}  // namespace upsweep::app

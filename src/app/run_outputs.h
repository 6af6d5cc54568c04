// The outputs of upsweep run: files, and text on standard output.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/run_options.h"
#include "files/array_file.h"
#include "files/file.h"
#include "lab/primitive.h"

namespace upsweep::app {

// The files and the text that a run writes. Files get their final names once everything is written. Every member throws
// Error.
class Outputs {
 public:
  // Opens all outputs. `count` is the number of elements of the main input, if known; `shape` is the main input's
  // shape, for an output that has the same.
  Outputs(const RunOptions& o, const Streamer& streamer, std::optional<std::uint64_t> count,
          const std::optional<Shape>& shape);
  // Takes the next elements of an output, as a Streamer passes them.
  void put(std::span<const std::byte> elements, std::size_t output);
  // Prints text before or after the result; does nothing if everything goes to files.
  void print(const std::string& text);
  // Prints `last_text`, then commits all files or none. In this order, a failure to print leaves no files.
  void commit(const std::string& last_text);

 private:
  Type type_;  // the main output's
  bool json_, prints_result_, first_ = true;
  std::optional<OutputFile> text_;                   // the result, or the table
  std::vector<std::unique_ptr<ArrayWriter>> files_;  // the main output first; null if printed as text
};

// Converts a tab-separated table to JSON lines, one per row.
std::string table_json(const std::string& table);

}  // namespace upsweep::app

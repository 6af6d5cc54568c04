// A table of text: columns as wide as they need to be.
#pragma once
#include <string>
#include <vector>

#include "lab/terminal.h"

namespace upsweep::lab {

struct Cell {
  std::string text;
  Style style = Style::plain;
  Cell(std::string t = {}, Style s = Style::plain) : text(std::move(t)), style(s) {}
  Cell(const char* t) : text(t) {}
};

class Grid {
 public:
  // Columns named in the first row; the first column is set to the left, the others to the right.
  explicit Grid(std::vector<std::string> header) : header_(std::move(header)) {}
  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.empty(); }
  // Columns that all lines take, separators included.
  int width() const;
  // Lines with a newline each; `indent` spaces first.
  std::string text(const Terminal& terminal, int indent = 0) const;
  // The same as a Markdown table. Cells in Style::strong are bold.
  std::string markdown() const;

 private:
  std::vector<std::size_t> widths() const;
  std::vector<std::string> header_;
  std::vector<std::vector<Cell>> rows_;
};

// Columns that UTF-8 text takes: code points, which is right for everything that we print.
std::size_t columns(const std::string& text);

}  // namespace upsweep::lab

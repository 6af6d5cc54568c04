// A text table with columns sized to fit.
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
  // `header` names the columns; the first is left-aligned, the others right-aligned.
  explicit Grid(std::vector<std::string> header) : header_(std::move(header)) {}
  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.empty(); }
  // Returns the table's width in characters, including the gaps between columns.
  int width() const;
  // Formats the table as lines that end with a newline, indented by `indent` spaces; as Markdown if terminal.markdown
  // is set. If the terminal is too narrow, each row becomes a paragraph: its first cell, then one line per other cell,
  // prefixed with the name of its column.
  std::string text(const Terminal& terminal, int indent = 0) const;
  // Formats the table as Markdown, with Style::strong as bold.
  std::string markdown() const;

 private:
  std::vector<std::size_t> widths() const;
  std::string paragraphs(const Terminal& terminal, int indent) const;
  std::vector<std::string> header_;
  std::vector<std::vector<Cell>> rows_;
};

// Returns the display width of UTF-8 text. Counts code points, which is exact for everything that upsweep prints.
std::size_t columns(const std::string& text);

}  // namespace upsweep::lab

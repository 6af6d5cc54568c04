#include "lab/grid.h"

#include <algorithm>
#include <numeric>

namespace upsweep::lab {

namespace {
constexpr std::size_t gap = 2;  // spaces between columns
}

std::size_t columns(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::vector<std::size_t> Grid::widths() const {
  std::vector<std::size_t> widths;
  for (const std::string& name : header_) widths.push_back(columns(name));
  for (const auto& row : rows_)
    for (std::size_t k = 0; k < row.size(); ++k) widths[k] = std::max(widths[k], columns(row[k].text));
  return widths;
}

int Grid::width() const {
  const auto all = widths();
  return static_cast<int>(std::accumulate(all.begin(), all.end(), gap * (all.size() - 1)));
}

std::string Grid::paragraphs(const Terminal& terminal, int indent) const {
  std::string text;
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  for (const auto& row : rows_) {
    text += margin + styled(terminal, row[0].style, row[0].text) + '\n';
    for (std::size_t k = 1; k < row.size(); ++k)
      if (!row[k].text.empty())
        text += margin + "  " + styled(terminal, Style::faint, header_[k]) + (header_[k].empty() ? "" : " ") +
                styled(terminal, row[k].style, row[k].text) + '\n';
  }
  return text;
}

std::string Grid::text(const Terminal& terminal, int indent) const {
  if (terminal.markdown) return '\n' + markdown();
  if (terminal.wraps && width() + indent > terminal.width) return paragraphs(terminal, indent);
  const auto all = widths();
  std::string text;
  const auto line = [&](const std::vector<Cell>& row) {
    std::string out(static_cast<std::size_t>(indent), ' ');
    for (std::size_t k = 0; k < row.size(); ++k) {
      const std::string padding(all[k] - columns(row[k].text), ' ');
      const std::string cell = styled(terminal, row[k].style, row[k].text);
      out += k == 0 ? cell + padding : padding + cell;
      if (k + 1 < row.size()) out += std::string(gap, ' ');
    }
    out.erase(out.find_last_not_of(' ') + 1);
    text += out + '\n';
  };
  std::vector<Cell> header;
  for (const std::string& name : header_) header.emplace_back(name, Style::faint);
  line(header);
  for (const auto& row : rows_) line(row);
  return text;
}

namespace {
// Escapes '|', which would end the cell.
std::string in_markdown(std::string text) {
  for (std::size_t k = text.find('|'); k != text.npos; k = text.find('|', k + 2)) text.insert(k, 1, '\\');
  return text;
}
}  // namespace

std::string Grid::markdown() const {
  std::string text = "|";
  for (const std::string& name : header_) text += " " + in_markdown(name) + " |";
  text += "\n|---|";
  for (std::size_t k = 1; k < header_.size(); ++k) text += "---:|";
  text += "\n";
  for (const auto& row : rows_) {
    text += "|";
    for (const Cell& cell : row)
      text +=
          " " + (cell.style == Style::strong ? "**" + in_markdown(cell.text) + "**" : in_markdown(cell.text)) + " |";
    text += "\n";
  }
  return text;
}

}  // namespace upsweep::lab

// What an output stream supports: colour, width, block characters.
#pragma once
#include <string>
#include <string_view>

namespace upsweep::lab {

struct Terminal {
  bool colour = false;   // a terminal, and neither NO_COLOR nor TERM=dumb
  bool unicode = false;  // a UTF-8 locale
  int width = 80;        // columns; 100 if not a terminal
};

// Describes a file descriptor: 1 for standard output, 2 for standard error.
Terminal terminal(int descriptor);

enum class Style { plain, good, bad, faint, strong };
// Returns the text in that style, or unchanged without colour.
std::string styled(const Terminal& terminal, Style style, std::string_view text);

// A horizontal bar for a fraction from 0 to 1, padded to `cells` columns.
std::string bar(const Terminal& terminal, double fraction, int cells);

}  // namespace upsweep::lab

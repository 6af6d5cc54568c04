// What the reader of our output can take: colour, width, box characters.
#pragma once
#include <string>
#include <string_view>

namespace upsweep::lab {

struct Terminal {
  bool colour = false;   // a terminal, and neither NO_COLOR nor TERM=dumb
  bool unicode = false;  // a UTF-8 locale
  int width = 80;        // columns; what is not a terminal gets 100
};

// Of a file descriptor: 1 for standard output, 2 for standard error.
Terminal terminal(int descriptor);

enum class Style { plain, good, bad, faint, strong };
// The text in that style, or as it is where there is no colour.
std::string styled(const Terminal& terminal, Style style, std::string_view text);

// A horizontal bar for a fraction from 0 to 1, padded to `cells` columns.
std::string bar(const Terminal& terminal, double fraction, int cells);

}  // namespace upsweep::lab

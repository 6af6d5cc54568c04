// Reads circles from files: .npy of N x 8 floats, CSV or JSON. The content decides the format, not the name.
//
// .npy   f32 or f64: x y z radius red green blue alpha
// CSV    One circle per line, with fields separated by commas, semicolons, tabs or spaces, as in the first line. The
//        first line, or the last comment (#) before the circles, may name the columns, in any order; otherwise they are
//        as in a .npy. Other columns are skipped. Fields may be in quotation marks.
// JSON   A list of circles, {"circles": list}, one circle, or one circle after another (JSON lines). A circle is a list
//        of eight numbers, or an object with the columns' names as keys; other keys are skipped.
//
// Names are case-insensitive; r is radius; color or colour is red, green and blue in one: #fff, #8000ff, white. Missing
// fields take their defaults: z 0, black, alpha 0.5. x, y and radius are required, and no field may be given twice.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "files/file.h"

namespace upsweep::ladders::render {

// A circle in the coordinates of its file, in f64: the coordinates of maps and star charts need more than f32.
struct WideCircle {
  double x = 0, y = 0, radius = 0;
  float z = 0, red = 0, green = 0, blue = 0, alpha = 0.5f;
};

enum class CircleFormat : std::uint8_t { npy, csv, json };

// The colours that a file may have: those that 8 bits can represent, or any.
enum class ColourRange : std::uint8_t { of_bytes, any };

struct CircleFile {
  std::string name{};  // for messages
  CircleFormat format = CircleFormat::csv;
  bool rounded = false;                // positions are f32 in the file
  std::vector<std::string> skipped{};  // names of columns that are not fields of a circle
};

using TakeCircle = std::function<void(const WideCircle&)>;

// Calls take(circle) for each circle of the file, in order. Throws Error(io_error), or Error(bad_file) with the mistake
// and its line and column, byte, or circle.
CircleFile read_circles(const std::string& path, ColourRange colours, const TakeCircle& take);
CircleFile read_circles(std::unique_ptr<Source> source, ColourRange colours, const TakeCircle& take);

}  // namespace upsweep::ladders::render

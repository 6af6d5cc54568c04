#include "ladders/render/lab/circle_file.h"

#include <fmt/format.h>

#include <array>

#include "files/content.h"
#include "files/npy.h"
#include "ladders/render/contract.h"
#include "ladders/render/lab/circle_fields.h"
#include "ladders/render/lab/circle_text.h"
#include "upsweep/error.h"

namespace upsweep::ladders::render {
namespace {

constexpr std::string_view utf8_mark = "\xef\xbb\xbf";
constexpr std::size_t at_once = 1 << 16;  // bytes of text

// Appends this many bytes, or all that are left; returns whether there were enough.
bool append(std::string& text, Source& source, std::size_t bytes) {
  const std::size_t before = text.size();
  text.resize(before + bytes);
  const std::size_t got = source.read(std::as_writable_bytes(std::span(text).subspan(before)));
  text.resize(before + got);
  return got == bytes;
}

// Determines the format from the first bytes, or from the name if the file is empty.
CircleFormat format_of(const PeekedSource& source) {
  std::string_view begin = source.beginning();
  const auto refuse = [&](const char* what, const char* hint) {
    throw Error(Code::bad_file, source.name() + " is " + what, hint);
  };
  if (begin.empty()) return source.name().ends_with(".npy") ? CircleFormat::npy : CircleFormat::csv;
  const Content content = content_of(begin);
  if (content == Content::npy) return CircleFormat::npy;
  refuse_other_formats(source);
  if (begin.starts_with("\xff\xfe") || begin.starts_with("\xfe\xff"))
    refuse("text in UTF-16", "save it as UTF-8: in a spreadsheet, CSV UTF-8");
  if (content != Content::unknown) refuse("an image", "circles are read from .npy, CSV and JSON");
  if (begin.find('\0') != begin.npos)
    refuse("neither a .npy file nor text", "circles are read from .npy, CSV and JSON");
  if (begin.starts_with(utf8_mark)) begin.remove_prefix(utf8_mark.size());
  const std::size_t first = begin.find_first_not_of(" \t\r\n");
  return first != begin.npos && (begin[first] == '[' || begin[first] == '{') ? CircleFormat::json : CircleFormat::csv;
}

template <class T>
void take_rows(NpyReader& reader, ColourRange colours, const TakeCircle& take, const std::string& file) {
  constexpr std::size_t some = 4096;
  std::vector<std::array<T, floats_per_circle>> rows(some);
  for (std::size_t first = 0;; first += some) {
    const std::size_t got = reader.read(std::as_writable_bytes(std::span(rows))) / floats_per_circle;
    for (std::size_t k = 0; k < got; ++k) {
      WideCircle circle;
      for (std::size_t field = 0; field < floats_per_circle; ++field)
        if (const auto mistake = set_field(circle, static_cast<Field>(field), rows[k][field], colours))
          throw Error(Code::bad_file,
                      fmt::format("{}: circle {}: {} {}", file, first + k, field_names[field], mistake->what),
                      mistake->hint);
      take(circle);
    }
    if (got < some) return;
  }
}

void read_npy(std::unique_ptr<Source> source, ColourRange colours, const TakeCircle& take, CircleFile& file) {
  NpyReader reader(std::move(source));
  const NpyHeader& header = reader.header();
  const bool wide = header.type == Type::f64;
  if (header.shape.size() != 2 || header.shape[1] != floats_per_circle || !(wide || header.type == Type::f32))
    throw Error(Code::bad_file, file.name + ": it is not an array of N x 8 numbers, f32 or f64",
                "x y z radius red green blue alpha: a.astype('f8').reshape(-1, 8)");
  file.rounded = !wide;
  if (wide)
    take_rows<double>(reader, colours, take, file.name);
  else
    take_rows<float>(reader, colours, take, file.name);
}

}  // namespace

CircleFile read_circles(std::unique_ptr<Source> unknown, ColourRange colours, const TakeCircle& take) {
  auto source = std::make_unique<PeekedSource>(std::move(unknown));
  CircleFile file{.name = source->name(), .format = format_of(*source)};
  if (file.format == CircleFormat::npy) {
    read_npy(std::move(source), colours, take, file);
    return file;
  }
  std::string bytes;
  while (append(bytes, *source, at_once)) {
  }
  std::string_view text = bytes;
  if (text.starts_with(utf8_mark)) text.remove_prefix(utf8_mark.size());
  (file.format == CircleFormat::json ? read_json : read_csv)(text, colours, take, file);
  return file;
}

CircleFile read_circles(const std::string& path, ColourRange colours, const TakeCircle& take) {
  return read_circles(std::make_unique<InputFile>(path), colours, take);
}

}  // namespace upsweep::ladders::render

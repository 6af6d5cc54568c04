#include "ladders/render/lab/circle_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "files/npy.h"
#include "upsweep/error.h"

namespace upsweep::ladders::render {
namespace {

constexpr std::array<std::string_view, floats_per_circle> names{"x",   "y",     "z",    "radius",
                                                                "red", "green", "blue", "alpha"};
using Numbers = std::array<float, floats_per_circle>;
constexpr Numbers defaults{0, 0, 0, 0, 0, 0, 0, 0.5f};
constexpr std::array<bool, floats_per_circle> required{true, true, false, true};

Circle circle_of(const Numbers& n) { return {n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7]}; }

[[noreturn]] void fail(const std::string& file, const std::string& what, const std::string& hint = {}) {
  throw Error(Code::bad_file, file + ": " + what, hint);
}

std::optional<std::size_t> column_named(std::string_view name) {
  if (name == "r") name = "radius";
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

std::string read_all(const std::string& path, std::string& name) {
  InputFile file(path);
  name = file.name();
  std::string text;
  constexpr std::size_t at_once = 1 << 20;
  for (std::size_t got = at_once; got == at_once;) {
    const std::size_t before = text.size();
    text.resize(before + at_once);
    got = file.read(std::as_writable_bytes(std::span(text).subspan(before)));
    text.resize(before + got);
  }
  return text;
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find_first_of(",;\t", begin), line.size());
    std::string_view field = line.substr(begin, end - begin);
    while (!field.empty() && (field.front() == ' ' || field.front() == '"')) field.remove_prefix(1);
    while (!field.empty() && (field.back() == ' ' || field.back() == '"' || field.back() == '\r'))
      field.remove_suffix(1);
    fields.push_back(field);
    begin = end + 1;
  }
  return fields;
}

std::optional<float> number_of(std::string_view text) {
  float value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Reads the columns' names, or nothing if the line has numbers.
std::optional<std::vector<std::size_t>> header_of(const std::vector<std::string_view>& fields,
                                                  const std::string& file) {
  if (std::all_of(fields.begin(), fields.end(), [](std::string_view f) { return number_of(f).has_value(); }))
    return std::nullopt;
  std::vector<std::size_t> columns;
  for (const std::string_view field : fields) {
    const auto column = column_named(field);
    if (!column)
      fail(file, fmt::format("line 1: '{}' is neither a number nor a column", field),
           fmt::format("columns: {}", fmt::join(names, " ")));
    columns.push_back(*column);
  }
  for (std::size_t k = 0; k < names.size(); ++k)
    if (required[k] && std::find(columns.begin(), columns.end(), k) == columns.end())
      fail(file, fmt::format("there is no column {}", names[k]));
  return columns;
}

std::vector<Circle> read_csv(const std::string& path) {
  std::string file;
  const std::string text = read_all(path, file);
  std::vector<std::size_t> columns(floats_per_circle);
  for (std::size_t k = 0; k < columns.size(); ++k) columns[k] = k;
  std::vector<Circle> circles;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.find_first_not_of(" \r\t") == line.npos || line.front() == '#') continue;
    const auto fields = fields_of(line);
    if (number == 1)
      if (const auto header = header_of(fields, file)) {
        columns = *header;
        continue;
      }
    if (fields.size() != columns.size())
      fail(file, fmt::format("line {} has {} fields, not {}", number, fields.size(), columns.size()));
    Numbers numbers = defaults;
    for (std::size_t k = 0; k < fields.size(); ++k) {
      const auto value = number_of(fields[k]);
      if (!value) fail(file, fmt::format("line {}: '{}' is not a number", number, fields[k]));
      numbers[columns[k]] = *value;
    }
    circles.push_back(circle_of(numbers));
  }
  return circles;
}

std::vector<Circle> read_json(const std::string& path) {
  std::string file;
  const auto json = nlohmann::json::parse(read_all(path, file), nullptr, /*allow_exceptions=*/false);
  if (!json.is_array()) fail(file, "it is not a JSON array of circles");
  std::vector<Circle> circles;
  for (const auto& item : json) {
    const auto wrong = [&](const std::string& what) { fail(file, fmt::format("circle {}: {}", circles.size(), what)); };
    Numbers numbers = defaults;
    if (item.is_array()) {
      if (item.size() != floats_per_circle) wrong(fmt::format("{} numbers, not {}", item.size(), floats_per_circle));
      for (std::size_t k = 0; k < item.size(); ++k) {
        if (!item[k].is_number()) wrong(fmt::format("{} is not a number", names[k]));
        numbers[k] = item[k];
      }
    } else if (item.is_object()) {
      std::array<bool, floats_per_circle> given{};
      for (const auto& [name, value] : item.items()) {
        const auto column = column_named(name);
        if (!column) wrong(fmt::format("no number of a circle is called '{}'", name));
        if (!value.is_number()) wrong(fmt::format("{} is not a number", name));
        numbers[*column] = value;
        given[*column] = true;
      }
      for (std::size_t k = 0; k < names.size(); ++k)
        if (required[k] && !given[k]) wrong(fmt::format("{} is missing", names[k]));
    } else {
      wrong("neither an array nor an object");
    }
    circles.push_back(circle_of(numbers));
  }
  return circles;
}

std::vector<Circle> read_npy(const std::string& path) {
  auto source = std::make_unique<InputFile>(path);
  const std::string file = source->name();
  NpyReader reader(std::move(source));
  const NpyHeader& header = reader.header();
  if (header.shape.size() != 2 || header.shape[1] != floats_per_circle || header.type != Type::f32)
    fail(file, "it is not an array of N x 8 f32", "x y z radius red green blue alpha: a.astype('f4').reshape(-1, 8)");
  std::vector<Circle> circles(header.shape[0]);
  reader.read(std::as_writable_bytes(std::span(circles)));
  return circles;
}

}  // namespace

std::vector<Circle> read_circles(const std::string& path) {
  if (path.ends_with(".csv")) return read_csv(path);
  if (path.ends_with(".json")) return read_json(path);
  return read_npy(path);
}

}  // namespace upsweep::ladders::render

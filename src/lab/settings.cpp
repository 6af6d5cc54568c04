#include "lab/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "cpu/parallel.h"

namespace upsweep {
namespace {

using Kind = Parameter::Kind;

[[noreturn]] void refuse_value(std::string_view name, const std::string& text, const std::string& takes) {
  throw Error(Code::invalid_argument, fmt::format("'{}={}': {} is {}", name, text, name, takes),
              "write --param name=value");
}

// Parses the whole text as a T, or returns nothing.
template <class T>
std::optional<T> number(const std::string& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if constexpr (std::is_floating_point_v<T>)
    if (!std::isfinite(value)) return std::nullopt;
  return value;
}

std::string range_text(const Parameter& p) {
  return std::isinf(p.most) ? fmt::format("from {} on", p.least) : fmt::format("from {} to {}", p.least, p.most);
}

}  // namespace

void Settings::set(const Parameter& parameter, const Scalar& value) {
  for (Item& item : items_)
    if (item.parameter->name == parameter.name) {
      item.value = value;
      return;
    }
  items_.push_back({&parameter, value});
}

const Scalar* Settings::find(std::string_view name) const {
  for (const Item& item : items_)
    if (item.parameter->name == name) return &item.value;
  return nullptr;
}

std::string text_of(const Settings::Item& item) {
  switch (item.parameter->kind) {
    case Kind::flag:
      return item.value.as<bool>() ? "true" : "false";
    case Kind::choice:
      return std::string(item.parameter->choices[item.value.as<std::uint8_t>()]);
    default:
      break;
  }
  return visit(item.value.type(), [&]<class T>(TypeTag<T>) { return fmt::format("{}", item.value.as<T>()); });
}

Scalar parse_value(const Parameter& p, Type element, const std::string& text) {
  switch (p.kind) {
    case Kind::flag:
      if (text == "true" || text == "1") return true;
      if (text == "false" || text == "0") return false;
      refuse_value(p.name, text, "true or false");
    case Kind::choice:
      for (std::size_t i = 0; i < p.choices.size(); ++i)
        if (p.choices[i] == text) return static_cast<std::uint8_t>(i);
      refuse_value(p.name, text, fmt::format("one of {}", fmt::join(p.choices, ", ")));
    case Kind::integer:
      if (const auto value = number<std::uint64_t>(text))
        if (static_cast<double>(*value) >= p.least && static_cast<double>(*value) <= p.most) return *value;
      refuse_value(p.name, text, "a whole number " + range_text(p));
    case Kind::real:
      if (const auto value = number<double>(text))
        if (*value >= p.least && *value <= p.most) return *value;
      refuse_value(p.name, text, "a number " + range_text(p));
    case Kind::element:
      break;
  }
  return visit(element, [&]<class T>(TypeTag<T>) -> Scalar {
    if (const auto value = number<T>(text)) return *value;
    refuse_value(p.name, text, fmt::format("of the elements' type, {}", to_string(element)));
  });
}

std::span<const TuningField> tuning_fields() {
  // Threads per block and blocks per launch: the limits of every CUDA device. No CPU rung cuts its work into more than
  // Parts::most parts; 0 is all cores. A rung forks into at most eight streams.
  static constexpr TuningField fields[] = {
      {"block", 1, 1024, true, [](const Tuning& t) { return std::uint64_t{t.block}; },
       [](Tuning& t, std::uint64_t v) { t.block = static_cast<unsigned>(v); }},
      {"grid", 1, 0x7fffffff, true, [](const Tuning& t) { return std::uint64_t{t.grid}; },
       [](Tuning& t, std::uint64_t v) { t.grid = static_cast<unsigned>(v); }},
      {"threads", 0, Parts::most, true, [](const Tuning& t) { return std::uint64_t{t.threads}; },
       [](Tuning& t, std::uint64_t v) { t.threads = static_cast<unsigned>(v); }},
      {"streams", 1, 8, false, [](const Tuning& t) { return std::uint64_t{t.streams}; },
       [](Tuning& t, std::uint64_t v) { t.streams = static_cast<unsigned>(v); }},
      {"chunk", 1, std::uint64_t{1} << 53, false, [](const Tuning& t) { return std::uint64_t{t.chunk}; },
       [](Tuning& t, std::uint64_t v) { t.chunk = v; }}};
  return fields;
}

void parse_tuning(Tuning& tuning, const TuningField& field, const std::string& text) {
  const auto value = number<std::uint64_t>(text);
  if (!value || *value < field.least || *value > field.most)
    refuse_value(field.name, text, fmt::format("a whole number from {} to {}", field.least, field.most));
  field.set(tuning, *value);
}

std::vector<std::pair<std::string, std::string>> texts_of(const Settings& settings, const Tuning& tuning) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const Settings::Item& item : settings) texts.emplace_back(item.parameter->name, text_of(item));
  for (const TuningField& field : tuning_fields())
    if (const std::uint64_t value = field.get(tuning)) texts.emplace_back(field.name, fmt::format("{}", value));
  return texts;
}

}  // namespace upsweep

#include "lab/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "cpu/parallel.h"
#include "lab/number.h"

namespace upsweep {
namespace {

using Kind = Parameter::Kind;

[[noreturn]] void refuse_value(std::string_view name, const std::string& text, const std::string& takes) {
  throw Error(Code::invalid_argument, fmt::format("'{}={}': {} is {}", name, text, name, takes),
              "write --param name=value");
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
  return visit_any(item.value.type(),
                   [&]<class T>(TypeTag<T>) { return number_text(static_cast<Computed<T>>(item.value.as<T>())); });
}

std::string takes(const Parameter& p) {
  const auto range = [&] {
    return std::isinf(p.most) ? std::isinf(p.least) ? "" : fmt::format(" from {} on", p.least)
                              : fmt::format(" from {} to {}", p.least, p.most);
  };
  switch (p.kind) {
    case Kind::flag:
      return "true or false";
    case Kind::choice:
      return fmt::format("one of {}", fmt::join(p.choices, ", "));
    case Kind::integer:
      return "a whole number" + range();
    case Kind::real:
      return "a number" + range();
    case Kind::result:
      return "of the output's type";
    case Kind::element:
      break;
  }
  return "of the elements' type";
}

std::string takes(const TuningField& field) {
  return fmt::format("a whole number from {} to {}", field.least, field.most);
}

Scalar parse_value(const Parameter& p, Type type, const std::string& text) {
  switch (p.kind) {
    case Kind::flag:
      if (text == "true" || text == "1") return true;
      if (text == "false" || text == "0") return false;
      refuse_value(p.name, text, takes(p));
    case Kind::choice:
      for (std::size_t i = 0; i < p.choices.size(); ++i)
        if (p.choices[i] == text) return static_cast<std::uint8_t>(i);
      refuse_value(p.name, text, takes(p));
    case Kind::integer:
      if (const auto value = parse_number<std::uint64_t>(text))
        if (static_cast<double>(*value) >= p.least && static_cast<double>(*value) <= p.most) return *value;
      refuse_value(p.name, text, takes(p));
    case Kind::real:
      if (const auto value = parse_number<double>(text))
        if (*value >= p.least && *value <= p.most) return *value;
      refuse_value(p.name, text, takes(p));
    case Kind::element:
    case Kind::result:
      break;
  }
  return visit_any(type, [&]<class T>(TypeTag<T>) -> Scalar {
    const auto value = parse_number<Computed<T>>(text);
    if (value && (!is_half<T> || std::isfinite(static_cast<double>(T(*value))))) return T(*value);
    refuse_value(p.name, text, fmt::format("{}, {}", takes(p), to_string(type)));
  });
}

namespace {
template <auto member>
constexpr TuningField field_of(std::string_view name, std::string_view meaning, std::uint64_t least, std::uint64_t most,
                               bool of_cpu, bool of_every_primitive = true, bool from_host = false) {
  using Value = decltype((Tuning{}.*member).peek());
  return {.name = name,
          .meaning = meaning,
          .least = least,
          .most = most,
          .of_cpu = of_cpu,
          .of_every_primitive = of_every_primitive,
          .from_host = from_host,
          .get = [](const Tuning& t) { return std::uint64_t{(t.*member).peek()}; },
          .was_read = [](const Tuning& t) { return (t.*member).was_read(); },
          .set = [](Tuning& t, std::uint64_t v) { t.*member = static_cast<Value>(v); }};
}
}  // namespace

std::span<const TuningField> tuning_fields() {
  // The limits of block and grid are those of every CUDA device. No CPU rung splits its work into more than Parts::most
  // parts. A rung forks into at most eight streams.
  static constexpr TuningField fields[] = {
      field_of<&Tuning::block>("block", "threads per block of a GPU rung (default: the rung's)", 1, 1024, false),
      field_of<&Tuning::grid>("grid", "blocks per launch of a GPU rung (default: the rung's)", 1, 0x7fffffff, false),
      field_of<&Tuning::threads>("threads", "threads of a CPU rung (default: 0, all cores)", 0, Parts::most, true),
      field_of<&Tuning::streams>("streams", "streams that copy from host memory (default: the rung's)", 1, 8, false,
                                 false, true),
      field_of<&Tuning::chunk>("chunk", "elements per copy from host memory (default: the rung's)", 1,
                               std::uint64_t{1} << 53, false, false, true)};
  return fields;
}

void parse_tuning(Tuning& tuning, const TuningField& field, const std::string& text) {
  const auto value = parse_number<std::uint64_t>(text);
  if (!value || *value < field.least || *value > field.most) refuse_value(field.name, text, takes(field));
  field.set(tuning, *value);
}

std::vector<std::pair<std::string, std::string>> texts_of(const Settings& settings, const Tuning& tuning) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const Settings::Item& item : settings) texts.emplace_back(item.parameter->name, text_of(item));
  for (const TuningField& field : tuning_fields())
    if (const std::uint64_t value = field.get(tuning)) texts.emplace_back(field.name, fmt::format("{}", value));
  return texts;
}

Tuning only_read(const Tuning& tuning) {
  Tuning read;
  for (const TuningField& field : tuning_fields())
    if (field.was_read(tuning)) field.set(read, field.get(tuning));
  return read;
}

}  // namespace upsweep

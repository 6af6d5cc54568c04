// Parameters by name: parsing and printing round-trip for every kind and element type, without rounding or truncation.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "cpu/parallel.h"
#include "error_of.h"
#include "lab/primitive.h"
#include "lab/settings.h"
#include "upsweep/parameters/scan.h"
#include "upsweep/parameters/select.h"

namespace upsweep {
namespace {

using Kind = Parameter::Kind;
constexpr Parameter element{.name = "e", .kind = Kind::element};
constexpr Parameter flag{.name = "f", .kind = Kind::flag};
constexpr Parameter choice{.name = "c", .kind = Kind::choice, .choices = head_kind_names};
constexpr Parameter integer{.name = "i", .kind = Kind::integer, .least = 2, .most = 1000};
constexpr Parameter real{.name = "r", .kind = Kind::real, .most = 1};

std::string round_trip(const Parameter& parameter, Type type, const std::string& text) {
  return text_of({&parameter, parse_value(parameter, type, text)});
}

// Expects a message that names the parameter, the text and the accepted values.
void expect_refused(const Parameter& parameter, Type type, const std::string& text, const std::string& takes) {
  const Error error = error_of([&] { parse_value(parameter, type, text); });
  EXPECT_EQ(error.code(), Code::invalid_argument);
  const std::string words =
      "'" + std::string(parameter.name) + "=" + text + "': " + std::string(parameter.name) + " is " + takes;
  EXPECT_EQ(std::string(error.what()), words);
  EXPECT_FALSE(error.hint().empty());
}

template <class T>
class ElementValues : public testing::Test {};
using Elements = testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                                std::int64_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(ElementValues, Elements);

TYPED_TEST(ElementValues, GoThereAndBackBitForBit) {
  using T = TypeParam;
  using L = std::numeric_limits<T>;
  std::vector<T> values{T(0), T(1), T(100), L::lowest(), L::max(), T(L::max() / 3), T(L::max() - T(1))};
  if constexpr (std::is_signed_v<T>) values.insert(values.end(), {T(-1), T(-100)});
  if constexpr (std::is_floating_point_v<T>)
    values.insert(values.end(), {-T(0), T(0.1), T(-2.7), T(1) / T(3), L::min(), L::epsilon(),
                                 std::nextafter(T(1), T(2)), T(1e20), T(-123456.789)});
  for (const T value : values) {
    const Scalar scalar = value;
    const std::string text = text_of({&element, scalar});
    const Scalar back = parse_value(element, type_of<T>(), text);
    EXPECT_EQ(back.type(), type_of<T>());
    EXPECT_EQ(std::memcmp(back.data(), scalar.data(), sizeof(T)), 0) << text;
    EXPECT_EQ(text_of({&element, back}), text);
  }
}

TEST(Values, AsTheyAreWritten) {
  EXPECT_EQ(round_trip(element, Type::i64, "-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(round_trip(element, Type::i64, "9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(round_trip(element, Type::u64, "18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(round_trip(element, Type::i8, "-128"), "-128") << "a number, not a character";
  EXPECT_EQ(round_trip(element, Type::u8, "65"), "65");
  EXPECT_EQ(round_trip(element, Type::f64, "-0.0"), "-0");
  EXPECT_EQ(round_trip(element, Type::f32, "0.1"), "0.1");
  EXPECT_EQ(round_trip(element, Type::f64, "2.5e-1"), "0.25");
  EXPECT_EQ(round_trip(flag, Type::f32, "1"), "true");
  EXPECT_EQ(round_trip(flag, Type::f32, "false"), "false");
  EXPECT_EQ(round_trip(integer, Type::f32, "1000"), "1000") << "whatever the element type";
  EXPECT_EQ(round_trip(real, Type::u8, "0.01"), "0.01");
  for (const std::string_view name : head_kind_names) EXPECT_EQ(round_trip(choice, Type::i32, std::string(name)), name);
}

TEST(Values, HaveTheirTypes) {
  EXPECT_TRUE(parse_value(flag, Type::f64, "true").as<bool>());
  EXPECT_EQ(parse_value(choice, Type::f64, "offsets").as<HeadKind>(), HeadKind::offsets);
  EXPECT_EQ(parse_value(integer, Type::f64, "7").type(), Type::u64);
  EXPECT_EQ(parse_value(integer, Type::f64, "7").as<std::uint64_t>(), 7u);
  EXPECT_EQ(parse_value(real, Type::i8, "0.5").as<double>(), 0.5);
  EXPECT_EQ(parse_value(element, Type::f32, "0.5").as<float>(), 0.5f);
}

TEST(Values, WhatIsNoElement) {
  for (const char* text : {"", " ", "x", "1x", "1 ", " 1", "+1", "0x10", "1,5", "nan", "inf", "-inf", "--1", "1.2.3"})
    for (const Type type : all_types())
      expect_refused(element, type, text, "of the elements' type, " + std::string(to_string(type)));
  const auto refused = [](Type type, const char* text) {
    expect_refused(element, type, text, "of the elements' type, " + std::string(to_string(type)));
  };
  for (const Type type : all_types())
    if (!is_float(type))
      for (const char* text : {"2.5", "1.0", "1e3"}) refused(type, text);
  refused(Type::i8, "128"), refused(Type::i8, "-129");
  refused(Type::u8, "256"), refused(Type::u8, "-1");
  refused(Type::i16, "32768"), refused(Type::u16, "65536");
  refused(Type::i32, "2147483648"), refused(Type::u32, "4294967296"), refused(Type::u32, "-1");
  refused(Type::i64, "9223372036854775808"), refused(Type::i64, "-9223372036854775809");
  refused(Type::u64, "18446744073709551616");
  refused(Type::f32, "1e39"), refused(Type::f64, "1e400");
  refused(Type::f16, "65520"), refused(Type::bf16, "3.4e38");
}

TEST(Values, WhatIsNoFlagNumberOrName) {
  for (const char* text : {"", "2", "yes", "True", "1.0", "nan"})
    expect_refused(flag, Type::i32, text, "true or false");
  for (const char* text : {"", "0", "flag", "Flags", "flags ", "3"})
    expect_refused(choice, Type::i32, text, "one of flags, keys, offsets");
  for (const char* text : {"", "1", "1001", "2.5", "-2", "1e2", "nan", "99999999999999999999"})
    expect_refused(integer, Type::i32, text, "a whole number from 2 to 1000");
  for (const char* text : {"", "-0.1", "1.01", "nan", "inf", "half"})
    expect_refused(real, Type::i32, text, "a number from 0 to 1");
  constexpr Parameter open{.name = "o", .kind = Kind::real, .least = 1};
  expect_refused(open, Type::i32, "0.5", "a number from 1 on");
  expect_refused(open, Type::i32, "inf", "a number from 1 on");
}

// ---- tuning ---------------------------------------------------------------------------------------------------------

TEST(Tuning, FieldsOfEveryRange) {
  for (const TuningField& field : tuning_fields()) {
    Tuning tuning;
    for (const std::uint64_t value : {field.least, field.most}) {
      parse_tuning(tuning, field, std::to_string(value));
      EXPECT_EQ(field.get(tuning), value) << field.name;
    }
    const Tuning before = tuning;
    std::vector<std::string> refused{"", "-1", "1.5", "1e2", "x", "nan", std::to_string(field.most + 1)};
    if (field.least) refused.push_back(std::to_string(field.least - 1));
    for (const std::string& text : refused) {
      const Error error = error_of([&] { parse_tuning(tuning, field, text); });
      EXPECT_EQ(error.code(), Code::invalid_argument);
      EXPECT_EQ(std::string(error.what()), "'" + std::string(field.name) + "=" + text +
                                               "': " + std::string(field.name) + " is a whole number from " +
                                               std::to_string(field.least) + " to " + std::to_string(field.most));
      EXPECT_EQ(tuning, before) << "must stay unchanged";
    }
    EXPECT_EQ(texts_of({}, tuning), (std::vector{std::pair{std::string(field.name), std::to_string(field.most)}}))
        << "only this field";
  }
  EXPECT_TRUE(texts_of({}, {}).empty());
}

TEST(Tuning, RangesAreTheDevicesAndTheRungs) {
  const auto range = [](std::string_view name) {
    for (const TuningField& field : tuning_fields())
      if (field.name == name) return std::pair{field.least, field.most};
    ADD_FAILURE() << name;
    return std::pair{std::uint64_t{}, std::uint64_t{}};
  };
  EXPECT_EQ(range("block"), (std::pair<std::uint64_t, std::uint64_t>{1, 1024}));
  EXPECT_EQ(range("grid"), (std::pair<std::uint64_t, std::uint64_t>{1, 0x7fffffff}));
  EXPECT_EQ(range("threads"), (std::pair<std::uint64_t, std::uint64_t>{0, Parts::most}));
}

// ---- settings of a case ---------------------------------------------------------------------------------------------

TEST(CaseSettings, KeepTheOrderAndTheLastValue) {
  const Primitive& segmented = *find_primitive("segmented_scan");
  Settings settings = segmented.settings(Type::i32, {{"heads", "keys"}, {"length", "9"}, {"inclusive", "true"}});
  settings.set(*segmented.parameter("heads"), HeadKind::offsets);
  EXPECT_EQ(texts_of(settings, {.block = 64, .threads = 2}),
            (std::vector<std::pair<std::string, std::string>>{
                {"heads", "offsets"}, {"length", "9"}, {"inclusive", "true"}, {"block", "64"}, {"threads", "2"}}));
  EXPECT_EQ(settings.get("heads", HeadKind::flags), HeadKind::offsets);
  EXPECT_EQ(settings.get<std::uint64_t>("length", 0), 9u);
  EXPECT_EQ(settings.get("absent", 1.5), 1.5);
  EXPECT_EQ(settings.find("absent"), nullptr);
  EXPECT_TRUE(Settings().empty());
  EXPECT_FALSE(settings.empty());
}

TEST(CaseSettings, AreOfThePrimitive) {
  const Primitive& reduce = *find_primitive("reduce");
  const Error unknown = error_of([&] { reduce.settings(Type::i32, {{"inclusive", "true"}}); });
  EXPECT_EQ(unknown.code(), Code::invalid_argument);
  EXPECT_NE(std::string(unknown.what()).find("reduce has no parameter named 'inclusive'"), std::string::npos);
  EXPECT_EQ(error_of([&] {
              find_primitive("saxpy")->settings(Type::i32, {{"a", "2.5"}});
            }).code(),
            Code::invalid_argument);
}

// A call's scalars: as given, or the primitive's defaults, without the parameters that shape the input.
TEST(CaseSettings, BecomeTheScalarsOfACall) {
  const Primitive &saxpy = *find_primitive("saxpy"), &select = *find_primitive("select"),
                  &scan = *find_primitive("scan");
  Case c{.type = Type::i64, .n = 10};
  EXPECT_EQ(call_of(saxpy, c).scalars[0].type(), Type::i64);
  EXPECT_EQ(call_of(saxpy, c).scalars[0].as<std::int64_t>(), 2);
  c.settings = saxpy.settings(Type::i64, {{"inplace", "true"}, {"a", "-9223372036854775808"}});
  EXPECT_EQ(call_of(saxpy, c).scalars[0].as<std::int64_t>(), std::numeric_limits<std::int64_t>::min());
  c = {.type = Type::u8, .operation = Selection::select_if};
  EXPECT_EQ(call_of(select, c).scalars[0].as<std::uint8_t>(), 128);
  c = {.type = Type::f32, .operation = Op::sum, .settings = scan.settings(Type::f32, {{"inclusive", "1"}})};
  c.tuning.grid = 7;
  const Call call = call_of(scan, c);
  EXPECT_TRUE(call.scalars[0].as<bool>());
  EXPECT_EQ(call.operation, Operation(Op::sum));
  EXPECT_EQ(call.tuning, c.tuning);
}

TEST(CaseSettings, AResultHasTheOutputsType) {
  const Primitive& scan = *find_primitive("scan");
  Case c{.type = Type::u32, .operation = Op::sum};
  EXPECT_FALSE(call_of(scan, c).scalars[1]) << "left out";
  c.settings = scan.settings(Type::u32, {{"initial", "5"}});
  EXPECT_EQ(call_of(scan, c).scalars[1].type(), Type::u32);
  c.settings.set(*scan.parameter("out_type"), std::uint8_t{1});
  const Parameter& initial = *scan.parameter("initial");
  EXPECT_EQ(scan.type_of(initial, c), Type::u64);
  EXPECT_EQ(parse_value(initial, Type::u64, "5000000000").as<std::uint64_t>(), 5'000'000'000u);
  c.operation = Op::max;
  EXPECT_EQ(scan.type_of(initial, c), Type::u32) << "maxima have the elements' type";
}

// A sort compares all bits from first_bit up unless their number is given; partition's digit has eight.
TEST(CaseSettings, DefaultsMayDependOnEachOther) {
  const auto bits_of = [](const char* name, Type type,
                          std::initializer_list<std::pair<std::string_view, std::string>> texts) {
    const Primitive& primitive = *find_primitive(name);
    return call_of(primitive, {.type = type, .settings = primitive.settings(type, texts)})
        .scalars[1]
        .as<std::uint64_t>();
  };
  EXPECT_EQ(bits_of("sort", Type::u32, {}), 32u);
  EXPECT_EQ(bits_of("sort", Type::u32, {{"first_bit", "8"}}), 24u);
  EXPECT_EQ(bits_of("sort", Type::f64, {{"first_bit", "63"}}), 1u);
  EXPECT_EQ(bits_of("sort", Type::u32, {{"first_bit", "8"}, {"bits", "3"}}), 3u);
  EXPECT_EQ(bits_of("sort", Type::u8, {{"first_bit", "9"}}), 1u) << "what is beyond the key is refused by the contract";
  EXPECT_EQ(bits_of("partition", Type::u32, {{"first_bit", "8"}}), 8u);
}

// Every parameter's default round-trips through text, and its name is unique within its primitive.
TEST(CaseSettings, EveryParameterHasOneName) {
  for (const Primitive* primitive : primitives()) {
    std::vector<std::string_view> names;
    for (const TuningField& field : tuning_fields()) names.push_back(field.name);
    for (const auto& parameters : {primitive->contract.scalars, primitive->shapes})
      for (const Parameter& parameter : parameters) {
        EXPECT_EQ(std::count(names.begin(), names.end(), parameter.name), 0) << primitive->name() << parameter.name;
        names.push_back(parameter.name);
        EXPECT_EQ(primitive->parameter(parameter.name), &parameter);
        EXPECT_FALSE(parameter.meaning.empty()) << parameter.name;
        EXPECT_TRUE(parameter.initial || !parameter.initial_in_words.empty()) << parameter.name << " has no default";
      }
    for (const Type type : primitive->types())
      for (const Settings& settings : primitive->variants(*primitive, type))
        for (const Settings::Item& item : settings) {
          // The results of reductions and scans have the sum's type.
          const Case c{.type = type, .operation = Op::sum, .settings = settings};
          const Scalar back = parse_value(*item.parameter, primitive->type_of(*item.parameter, c), text_of(item));
          EXPECT_EQ(back.type(), item.value.type()) << primitive->name() << ' ' << item.parameter->name;
          EXPECT_EQ(std::memcmp(back.data(), item.value.data(), size_of(back.type())), 0) << text_of(item);
        }
  }
}

}  // namespace
}  // namespace upsweep

// .npy files: every type round-trips, headers match numpy's bytes, and each malformed file gets one clear error.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>

#include "error_of.h"
#include "files/npy.h"
#include "lab/inputs.h"
#include "memory_source.h"
#include "upsweep/error.h"

using namespace upsweep;
using std::string;

namespace {

string dictionary(const string& descr, const string& shape, const string& order = "False") {
  return "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }";
}

// Returns a .npy file of format `major`.0 with this header text and this data.
string file(const string& text, const string& data = {}, int major = 1) {
  string bytes = "\x93NUMPY";
  bytes += static_cast<char>(major);
  bytes += '\0';
  for (int k = 0; k < (major == 1 ? 2 : 4); ++k) bytes += static_cast<char>(text.size() >> (8 * k) & 0xFF);
  return bytes + text + data;
}

NpyHeader header(const string& bytes) {
  MemorySource source(bytes);
  return read_npy_header(source);
}

// Returns the message and hint of the bad_file error that reading these bytes must raise.
string refused(const string& bytes, bool size_known = true) {
  try {
    NpyReader reader(std::make_unique<MemorySource>(bytes, size_known));
    std::byte buffer[64];
    while (reader.read(buffer) == sizeof buffer / size_of(reader.type())) {
    }
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::bad_file);
    EXPECT_EQ(string(e.what()).find('\n'), string::npos);
    EXPECT_NE(string(e.what()).find("memory"), string::npos) << "must name the file: " << e.what();
    EXPECT_FALSE(e.hint().empty());
    return e.what() + (" | " + e.hint());
  }
  ADD_FAILURE() << "was not refused";
  return {};
}

#define EXPECT_REFUSED(bytes, part) EXPECT_NE(refused(bytes).find(part), string::npos) << refused(bytes)

class NpyFiles : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }
  string path(const string& name) const { return folder + "/" + name; }
  const string folder = testing::TempDir() + "upsweep-npy-" + std::to_string(getpid()) + "-" +
                        testing::UnitTest::GetInstance()->current_test_info()->name();
};

}  // namespace

TEST_F(NpyFiles, EveryTypeThereAndBackInPieces) {
  for (const std::string_view name : arithmetic_type_names) {
    const Type type = *parse<Type>(name);
    const std::size_t n = 1001;
    std::vector<std::byte> elements(n * size_of(type)), back(elements.size());
    fill_input("uniform", type, n, 1, elements.data());
    {
      NpyWriter writer(path("a.npy"), type, n);
      const std::size_t cut = 10 * size_of(type);
      writer.write(std::span(elements).first(cut));
      writer.write(std::span(elements).subspan(cut));
      writer.commit();
    }
    NpyReader reader(std::make_unique<InputFile>(path("a.npy")));
    ASSERT_EQ(reader.type(), type);
    ASSERT_EQ(reader.count(), n);
    std::size_t done = 0;
    while (
        const std::size_t got = reader.read(
            std::span(back).subspan(done * size_of(type)).first(std::min<std::size_t>(64, n - done) * size_of(type))))
      done += got;
    EXPECT_EQ(done, n);
    EXPECT_EQ(elements, back);
  }
}

TEST_F(NpyFiles, CountMayBeUnknownUntilTheEnd) {
  {
    NpyWriter writer(path("b.npy"), Type::i16, std::nullopt);
    const std::int16_t elements[] = {1, -2, 3};
    for (int k = 0; k < 2; ++k) writer.write(std::as_bytes(std::span(elements)));
    writer.commit();
  }
  NpyReader reader(std::make_unique<InputFile>(path("b.npy")));
  EXPECT_EQ(reader.count(), 6u);
  std::int16_t back[6];
  EXPECT_EQ(reader.read(std::as_writable_bytes(std::span(back))), 6u);
  EXPECT_EQ(back[4], -2);
}

TEST_F(NpyFiles, WrongCountLeavesNoFile) {
  {
    NpyWriter writer(path("c.npy"), Type::i32, 3);
    const int element = 1;
    writer.write(std::as_bytes(std::span(&element, 1)));
    EXPECT_THROW(writer.commit(), Error);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

// The header that numpy 1.24 writes for numpy.arange(3, dtype='<f4').
TEST(Npy, HeaderIsNumpysOwn) {
  const std::uint64_t shape[] = {3};
  const string text = "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }";
  EXPECT_EQ(npy_header(Type::f32, shape),
            string("\x93NUMPY\1\0\x76\0", 10) + text + string(117 - text.size(), ' ') + "\n");
  const std::uint64_t largest[] = {std::numeric_limits<std::uint64_t>::max()};
  EXPECT_EQ(npy_header(Type::u8, largest).size(), 128u);
  const std::vector<std::uint64_t> many(64, 1'000'000'000'000u);
  EXPECT_EQ(npy_header(Type::u8, many).size() % 64, 0u);
}

TEST(Npy, HeadersThatNumpyReads) {
  for (int major : {1, 2, 3}) {
    const NpyHeader h = header(file(dictionary("'<f8'", "(2, 3, 4)") + "   \n", string(192, '\0'), major));
    EXPECT_EQ(h.type, Type::f64);
    EXPECT_EQ(h.shape, (std::vector<std::uint64_t>{2, 3, 4}));
    EXPECT_EQ(h.count, 24u);
  }
  EXPECT_EQ(header(file(dictionary("'|u1'", "()"))).count, 1u);
  EXPECT_EQ(header(file(dictionary("'=i4'", "(5,)"))).type, Type::i32);
  EXPECT_EQ(header(file(dictionary("'i2'", "(5,)"))).type, Type::i16);
  EXPECT_EQ(header(file(dictionary("'>i1'", "(5,)"))).type, Type::i8);
  EXPECT_EQ(header(file(dictionary("\"<u8\"", "(3L, 2L)"))).count, 6u);
  EXPECT_EQ(header(file(dictionary("'<u4'", "(7,)", "True"))).count, 7u);
  for (const char* shape : {"(7,)", "(1, 7)", "(7, 1, 1)", "(0, 7, 7)", "()"})
    EXPECT_FALSE(header(file(dictionary("'<u4'", shape, "True"))).fortran_order) << shape << ": the bytes are the same";
  EXPECT_EQ(header(file(dictionary("'<u4'", "(0, 18446744073709551615)"))).count, 0u);
  EXPECT_EQ(header(file("{'shape':(4,),'fortran_order':False,'descr':'<i4'}")).count, 4u);
}

TEST(Npy, OtherThingsAreRefusedByName) {
  EXPECT_REFUSED("", "not a .npy file");
  EXPECT_REFUSED("PK\3\4 a zip file", "not a .npy file");
  EXPECT_REFUSED(string("\x93NUMPY\1\0\x10", 9), "cut short");
  EXPECT_REFUSED(string("\x93NUMPY\1\0\x10\0{", 11), "cut short");
  EXPECT_REFUSED(file("", "", 4), "format 4.0");
  EXPECT_REFUSED(string("\x93NUMPY\2\0\xFF\xFF\xFF\xFF", 12), "header of 4294967295 bytes");
  EXPECT_REFUSED(file(""), "no '{'");
  EXPECT_REFUSED(file("{}"), "lacks");
  EXPECT_REFUSED(file("{'descr': '<i4', 'shape': (1,)}"), "lacks");
  EXPECT_REFUSED(file("{'descr': '<i4"), "without an end");
  EXPECT_REFUSED(file("{'descr': '<i4', 'descr': '<i4', }"), "twice");
  EXPECT_REFUSED(file("{'colour': 1}"), "unknown key, 'colour'");
  EXPECT_REFUSED(file("{'" + string(60000, 'x') + "': 1}"), "xxx...xxx");
  EXPECT_REFUSED(file(dictionary("'<i4'", "(1,)") + "x"), "after the dictionary");
  EXPECT_REFUSED(file(dictionary("'<i4'", "(1,)", "Maybe")), "neither True nor False");
  EXPECT_REFUSED(file(dictionary("'<i4'", "(-1,)")), "whole number");
  EXPECT_REFUSED(file(dictionary("'<i4'", "(1.5,)")), "no ')'");
  EXPECT_REFUSED(file(dictionary("'<i4'", "(3)")), "tuple");
  EXPECT_REFUSED(file(dictionary("'<i4'", "3")), "no '('");
  EXPECT_REFUSED(file(dictionary("'<i4'", "(1, ,)")), "whole number");
  string deep = "(";
  for (int k = 0; k < 65; ++k) deep += "1, ";
  EXPECT_REFUSED(file(dictionary("'<i4'", deep + ")")), "64 dimensions");
}

TEST(Npy, TypesThatAreNotOursAreRefusedWithTheWayOut) {
  EXPECT_REFUSED(file(dictionary("'<f16'", "(1,)")), "floats of a size");
  EXPECT_REFUSED(file(dictionary("'g'", "(1,)")), "floats of a size");
  EXPECT_REFUSED(file(dictionary("'<float32'", "(1,)")), "floats of a size");  // numpy rejects it, too
  EXPECT_REFUSED(file(dictionary("'<c8'", "(1,)")), "complex");
  EXPECT_REFUSED(file(dictionary("'|O'", "(1,)")), "Python objects");
  EXPECT_REFUSED(file(dictionary("'<U5'", "(1,)")), "strings");
  EXPECT_REFUSED(file(dictionary("'<M8[ns]'", "(1,)")), "times");
  EXPECT_REFUSED(file(dictionary("[('x', '<f4')]", "(1,)")), "structures");
  EXPECT_REFUSED(file(dictionary("''", "(1,)")), "unknown type");
  EXPECT_REFUSED(file(dictionary("'\n\x1b[2J'", "(1,)")), "unknown type ('\\n\\x1b[2J')");
  EXPECT_REFUSED(file(dictionary("'O\0P'", "(1,)")), "Python objects");
}

TEST(Npy, ShapesBeyondAnyFileAreRefused) {
  EXPECT_REFUSED(file(dictionary("'<i4'", "(18446744073709551615,)")), "than any file");
  EXPECT_REFUSED(file(dictionary("'<i4'", "(18446744073709551616,)")), "beyond 2^64");
  EXPECT_REFUSED(file(dictionary("'|u1'", "(4294967296, 4294967296)")), "than any file");
  EXPECT_REFUSED(file(dictionary("'<f8'", "(2305843009213693952,)")), "than any file");
}

TEST(Npy, SizesMustFitTheHeader) {
  const string text = dictionary("'<i4'", "(3,)");
  EXPECT_REFUSED(file(text, string(11, 'x')), "announces 3 i32 elements, 12 bytes, but only 11");
  EXPECT_REFUSED(file(text, string(13, 'x')), "1 bytes after");
  // The same through a pipe, where the size is known only after reading.
  EXPECT_NE(refused(file(text, string(11, 'x')), false).find("missing"), string::npos);
  EXPECT_NE(refused(file(text, string(13, 'x')), false).find("goes on"), string::npos);
}

// ---- conversions -------------------------------------------------------------------------------------------------

namespace {

// Reads all elements of a .npy file in pieces of `step` bytes.
template <class T>
std::vector<T> all_of(const string& bytes, std::size_t step = 64, bool size_known = true) {
  NpyReader reader(std::make_unique<MemorySource>(bytes, size_known));
  EXPECT_EQ(reader.type(), type_of<T>());
  std::vector<T> all;
  std::vector<T> part(step / sizeof(T));
  while (const std::size_t got = reader.read(std::as_writable_bytes(std::span(part))))
    all.insert(all.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(got));
  EXPECT_EQ(all.size(), reader.count());
  return all;
}

}  // namespace

TEST(Npy, TypesByEveryNameThatNumpyTakes) {
  const std::pair<const char*, Type> names[] = {{"<d", Type::f64},     {"<f", Type::f32},     {"f", Type::f32},
                                                {">h", Type::i16},     {"B", Type::u8},       {"b", Type::i8},
                                                {"=I", Type::u32},     {"|q", Type::i64},     {"float32", Type::f32},
                                                {"uint16", Type::u16}, {"double", Type::f64}, {"?", Type::u8}};
  for (const auto& [name, type] : names)
    EXPECT_EQ(header(file(dictionary("'" + string(name) + "'", "(1,)"))).type, type) << name;
}

TEST(Npy, BigEndianNumbersAreSwapped) {
  const string bytes("\1\2\3\4\5\6\7\10", 8);
  EXPECT_EQ(all_of<std::uint16_t>(file(dictionary("'>u2'", "(4,)"), bytes), 2),
            (std::vector<std::uint16_t>{0x0102, 0x0304, 0x0506, 0x0708}));
  EXPECT_EQ(all_of<std::uint32_t>(file(dictionary("'>u4'", "(2,)"), bytes)),
            (std::vector<std::uint32_t>{0x01020304, 0x05060708}));
  EXPECT_EQ(all_of<std::uint64_t>(file(dictionary("'>u8'", "(1,)"), bytes)),
            std::vector<std::uint64_t>{0x0102030405060708});
  EXPECT_EQ(all_of<float>(file(dictionary("'>f4'", "(1,)"), string("\x3f\x80\0\0", 4))), std::vector<float>{1});
}

TEST(Npy, BooleansAreZeroAndOne) {
  EXPECT_EQ(all_of<std::uint8_t>(file(dictionary("'|b1'", "(4,)"), string("\0\1\xff\2", 4))),
            (std::vector<std::uint8_t>{0, 1, 1, 1}));
}

// All 65536 values against the definition, in f64: (-1)^sign 2^(exponent - 15) (1 + fraction / 1024).
TEST(Npy, EveryFloat16IsExact) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const unsigned exponent = bits >> 10 & 31, fraction = bits & 1023;
    const float value = f16::of_bits(static_cast<std::uint16_t>(bits));
    EXPECT_EQ(std::signbit(value), bits >> 15 == 1);
    if (exponent == 31) {
      EXPECT_EQ(std::isnan(value), fraction != 0);
      EXPECT_EQ(std::isinf(value), fraction == 0);
    } else {
      const double scale = std::ldexp(1.0, exponent == 0 ? -14 : static_cast<int>(exponent) - 15);
      ASSERT_EQ(std::abs(double{value}), scale * ((exponent == 0 ? 0 : 1) + fraction / 1024.0)) << bits;
    }
  }
  const string halves("\0\x3c\0\xc0\xff\x7b", 6);
  for (const std::size_t step : {4, 8, 64})
    EXPECT_EQ(all_of<float>(file(dictionary("'<f2'", "(3,)"), halves), step), (std::vector<float>{1, -2, 65504}));
  EXPECT_EQ(all_of<float>(file(dictionary("'>f2'", "(1,)"), "\x3c" + string(1, '\0'))), std::vector<float>{1});
  EXPECT_NE(refused(file(dictionary("'<f2'", "(3,)"), string(5, '\0')), false).find("missing"), string::npos);
}

// Every shape of up to four dimensions, in blocks of all sizes: element k in C order has the value k.
TEST(Npy, FortranOrderIsRead) {
  const std::vector<Shape> shapes{{2, 3},       {3, 2},       {1, 5, 4}, {7, 5},    {2, 3, 4},  {4, 1, 3, 2},
                                  {5, 4, 3, 2}, {2, 2, 2, 2}, {1000, 3}, {3, 1000}, {40, 50, 3}};
  for (const Shape& shape : shapes) {
    std::uint64_t count = 1;
    for (const std::uint64_t length : shape) count *= length;
    std::vector<std::uint32_t> stored(count), expected(count);
    for (std::uint64_t k = 0; k < count; ++k) {
      std::uint64_t rest = k, at = 0;
      for (std::size_t d = shape.size(); d-- > 0;) {
        std::uint64_t stride = 1;
        for (std::size_t before = 0; before < d; ++before) stride *= shape[before];
        at += rest % shape[d] * stride;
        rest /= shape[d];
      }
      stored[at] = expected[k] = static_cast<std::uint32_t>(k);
    }
    const string data(reinterpret_cast<const char*>(stored.data()), count * sizeof(std::uint32_t));
    for (const std::size_t block : {1, 4, 12, 64, 1000, 5000, 1 << 20}) {
      MemorySource source("begin" + data);
      FortranOrder reader(source, 5, shape, sizeof(std::uint32_t), block);
      std::vector<std::uint32_t> got(count + 1);
      std::size_t done = 0;
      while (const std::size_t part = reader.read(std::as_writable_bytes(
                 std::span(got).subspan(done).first(std::min<std::size_t>(7, got.size() - done)))))
        done += part / sizeof(std::uint32_t);
      ASSERT_EQ(done, count);
      got.pop_back();
      ASSERT_EQ(got, expected) << shape.size() << " dimensions, the first " << shape[0] << ", block " << block;
    }
  }
}

TEST(Npy, FortranOrderOfAPipe) {
  const std::uint8_t stored[] = {0, 3, 1, 4, 2, 5};
  const string bytes = file(dictionary("'|u1'", "(2, 3)", "True"), string(reinterpret_cast<const char*>(stored), 6));
  EXPECT_EQ(all_of<std::uint8_t>(bytes), (std::vector<std::uint8_t>{0, 1, 2, 3, 4, 5}));
  std::byte all[6];
  NpyReader pipe(std::make_unique<MemorySource>(bytes, false));
  EXPECT_EQ(error_of([&] { pipe.read(all); }).code(), Code::unsupported);
  NpyReader any(std::make_unique<MemorySource>(bytes, false));
  any.any_order();
  EXPECT_EQ(any.read(all), 6u);
  EXPECT_EQ(std::memcmp(all, stored, 6), 0);
  EXPECT_REFUSED(bytes.substr(0, bytes.size() - 1), "but only 5 bytes");
}

TEST_F(NpyFiles, ShapesAreWritten) {
  {
    NpyWriter writer(path("a.npy"), Type::u8, 6, Shape{2, 3});
    writer.write(std::as_bytes(std::span("abcdef", 6)));
    writer.commit();
  }
  EXPECT_EQ(NpyReader(std::make_unique<InputFile>(path("a.npy"))).header().shape, (Shape{2, 3}));
  NpyWriter(path("b.npy"), Type::u8, 0, Shape{0, 3}).commit();
  EXPECT_EQ(NpyReader(std::make_unique<InputFile>(path("b.npy"))).header().shape, (Shape{0, 3}));
}

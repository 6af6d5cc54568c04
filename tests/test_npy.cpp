// .npy files: every type round-trips, headers match numpy's bytes, and each malformed file gets one clear error.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <limits>
#include <string>

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

// A file of format `major`.0 with this header text and these bytes after it.
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

// Returns the message and hint of the bad_file error that opening and reading these bytes must raise.
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
  for (std::size_t t = 0; t < type_names.size(); ++t) {
    const Type type = static_cast<Type>(t);
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
  EXPECT_REFUSED(file("{'colour': 1}"), "unknown key");
  EXPECT_REFUSED(file(dictionary("'<i4'", "(1,)") + "x"), "after the dictionary");
  EXPECT_REFUSED(file(dictionary("'<i4'", "(1,)", "Maybe")), "neither True nor False");
  EXPECT_REFUSED(file(dictionary("'<i4'", "(2, 2)", "True")), "ascontiguousarray");
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
  EXPECT_REFUSED(file(dictionary("'>f4'", "(1,)")), "astype('<f4')");
  EXPECT_REFUSED(file(dictionary("'<f2'", "(1,)")), "astype('<f4')");
  EXPECT_REFUSED(file(dictionary("'<f16'", "(1,)")), "floats of a size");
  EXPECT_REFUSED(file(dictionary("'<c8'", "(1,)")), "complex");
  EXPECT_REFUSED(file(dictionary("'|O'", "(1,)")), "Python objects");
  EXPECT_REFUSED(file(dictionary("'|b1'", "(1,)")), "booleans");
  EXPECT_REFUSED(file(dictionary("'<U5'", "(1,)")), "strings");
  EXPECT_REFUSED(file(dictionary("'<M8[ns]'", "(1,)")), "times");
  EXPECT_REFUSED(file(dictionary("[('x', '<f4')]", "(1,)")), "structures");
  EXPECT_REFUSED(file(dictionary("''", "(1,)")), "unknown type");
  EXPECT_REFUSED(file(dictionary("'\n\x1b[2J'", "(1,)")), "unknown type ('??[2J')");
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
  // The same through a pipe, where only reading finds the size.
  EXPECT_NE(refused(file(text, string(11, 'x')), false).find("missing"), string::npos);
  EXPECT_NE(refused(file(text, string(13, 'x')), false).find("goes on"), string::npos);
}

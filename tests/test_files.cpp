// Files: an output is complete or absent, whatever fails and whatever signals arrive; raw binary input and output.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "error_of.h"
#include "files/commit.h"
#include "files/file.h"
#include "files/quoted.h"
#include "files/raw.h"
#include "files/spool.h"
#include "memory_source.h"
#include "upsweep/error.h"

using namespace upsweep;
using std::string;
namespace fs = std::filesystem;

namespace {

std::span<const std::byte> bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

class Files : public testing::Test {
 protected:
  void SetUp() override { fs::create_directory(folder); }
  void TearDown() override {
    fs::permissions(folder, fs::perms::owner_all);
    fs::remove_all(folder);
  }
  string path(const string& name) const { return folder + "/" + name; }
  string content(const string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void put(const string& name, std::string_view text) const { std::ofstream(path(name), std::ios::binary) << text; }
  std::size_t entries() const { return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {})); }

  const string folder = testing::TempDir() + "upsweep-files-" + std::to_string(getpid()) + "-" +
                        testing::UnitTest::GetInstance()->current_test_info()->name();
};

// Runs `body` in a child process and returns the status that waitpid() reports.
template <class Body>
int in_child(Body&& body) {
  std::fflush(nullptr);  // otherwise, the child would write this process's buffered output too
  const pid_t child = fork();
  if (child == 0) {
    try {
      _exit(body());
    } catch (const Error& e) {
      _exit(100 + static_cast<int>(e.code()));
    }
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

int exited_with(Code code) { return (100 + static_cast<int>(code)) << 8; }

}  // namespace

TEST_F(Files, CommitGivesTheFileItsName) {
  {
    OutputFile file(path("a"));
    file.write(bytes("hello, "));
    file.write(bytes("world"));
    EXPECT_FALSE(fs::exists(path("a")));
    file.rewrite(0, bytes("H"));
    file.commit();
    EXPECT_EQ(content("a"), "Hello, world");
  }
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, WithoutCommitTheOldFileStays) {
  put("a", "old");
  {
    OutputFile file(path("a"));
    file.write(bytes("new"));
    EXPECT_EQ(entries(), 2u);
  }
  EXPECT_EQ(content("a"), "old");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, LinksToNothingStay) {
  fs::create_directory(path("folder"));
  fs::create_symlink("../later", path("folder/last"));
  fs::create_symlink(path("folder/last"), path("first"));
  OutputFile file(path("first"));
  file.write(bytes("new"));
  file.commit();
  EXPECT_TRUE(fs::is_symlink(path("first")) && fs::is_symlink(path("folder/last")));
  EXPECT_EQ(content("later"), "new");
}

TEST_F(Files, ReplacingKeepsPermissionsAndLinks) {
  put("target", "old");
  fs::permissions(path("target"), fs::perms::owner_read | fs::perms::owner_write | fs::perms::others_read);
  fs::create_symlink("target", path("link"));
  OutputFile file(path("link"));
  file.write(bytes("new"));
  file.commit();
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(content("target"), "new");
  EXPECT_EQ(fs::status(path("target")).permissions(),
            fs::perms::owner_read | fs::perms::owner_write | fs::perms::others_read);
}

TEST_F(Files, NewFilesObeyTheUmask) {
  const mode_t old = umask(027);
  OutputFile file(path("a"));
  file.commit();
  umask(old);
  EXPECT_EQ(static_cast<unsigned>(fs::status(path("a")).permissions()), 0640u);
}

TEST_F(Files, ANameOfFullLengthWorks) {
  OutputFile file(path(string(255, 'x')));
  file.commit();
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, UnwritablePlacesAreFoundAtOnce) {
  EXPECT_EQ(error_of([&] { OutputFile file(path("no/such/folder/a")); }).code(), Code::io_error);
  const Error folder_error = error_of([&] { OutputFile file(folder); });
  EXPECT_EQ(folder_error.code(), Code::io_error);
  EXPECT_NE(folder_error.hint().find("folder"), string::npos);
  EXPECT_EQ(error_of([&] { OutputFile file(path("a/")); }).code(), Code::io_error);
  EXPECT_EQ(error_of([&] { OutputFile file(""); }).code(), Code::io_error);
  if (geteuid() == 0) return;  // root may write anywhere
  fs::permissions(folder, fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_NE(error_of([&] { OutputFile file(path("a")); }).hint().find("permissions"), string::npos);
}

TEST_F(Files, NamesThatCannotBeAreFoundAtOnce) {
  put("a", "");
  EXPECT_NE(string(error_of([&] { OutputFile file(path(string(256, 'x'))); }).what()).find("too long"), string::npos);
  EXPECT_EQ(error_of([&] { OutputFile file(path("a/b")); }).code(), Code::io_error);
  fs::create_symlink("loop", path("loop"));
  EXPECT_EQ(error_of([&] { OutputFile file(path("loop")); }).code(), Code::io_error);
  EXPECT_EQ(entries(), 2u);
}

TEST_F(Files, TheOwnerStays) {
  if (geteuid() != 0) GTEST_SKIP() << "only root may give files away";
  put("a", "old");
  ASSERT_EQ(chown(path("a").c_str(), 12345, 54321), 0);
  fs::permissions(path("a"), fs::perms::owner_read | fs::perms::owner_write);
  OutputFile(path("a")).commit();
  struct stat status {};
  ASSERT_EQ(stat(path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, 12345u);
  EXPECT_EQ(status.st_gid, 54321u);
  EXPECT_EQ(status.st_mode & 0777u, 0600u);
}

// As in a group of commands that share an output file: existing content stays, and later output is appended.
TEST_F(Files, OwnDescriptorsAreWrittenInPlace) {
  put("a", "before ");
  fs::create_symlink("/dev/stdout", path("link"));
  const int descriptor = open(path("a").c_str(), O_WRONLY | O_APPEND);
  const int status = in_child([&] {
    dup2(descriptor, STDOUT_FILENO);
    dup2(descriptor, 7);
    for (const string& name : {string("/dev/stdout"), string("/dev/fd/7"), string("/proc/self/fd/1"), path("link")}) {
      OutputFile file(name);
      if (file.can_rewrite()) return 1;
      file.write(bytes("x"));
      file.commit();
    }
    return write(STDOUT_FILENO, " after", 6) == 6 ? 0 : 1;
  });
  close(descriptor);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(content("a"), "before xxxx after");
  EXPECT_EQ(error_of([&] { OutputFile file("/dev/fd/999"); }).code(), Code::io_error) << "closed";
}

TEST_F(Files, NoFileBecomesStandardOutput) {
  const int status = in_child([&] {
    for (int descriptor = 0; descriptor < 3; ++descriptor) close(descriptor);
    occupy_standard_descriptors();
    OutputFile file(path("a"));
    char byte = 'x';
    const bool fails =
        write(STDOUT_FILENO, &byte, 1) < 0 && write(STDERR_FILENO, &byte, 1) < 0 && read(STDIN_FILENO, &byte, 1) < 0;
    file.commit();
    return fails ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(content("a"), "");
}

TEST_F(Files, FinishedIsNotYetCommitted) {
  put("a", "old");
  OutputFile file(path("a"));
  file.write(bytes("new"));
  file.finish();
  EXPECT_EQ(content("a"), "old");
  file.commit();
  EXPECT_EQ(content("a"), "new");
}

TEST_F(Files, UnreadableInputsAreNamed) {
  const Error missing = error_of([&] { InputFile file(path("missing")); });
  EXPECT_EQ(missing.code(), Code::io_error);
  EXPECT_NE(string(missing.what()).find(path("missing")), string::npos);
  EXPECT_EQ(error_of([&] { InputFile file(folder); }).code(), Code::io_error);
}

// /dev/full simulates a full disk, a file-size limit a disk that fills up half way.
TEST_F(Files, AFullDiskIsAnError) {
  OutputFile full("/dev/full");
  const Error e = error_of([&] { full.write(bytes("x")); });
  EXPECT_EQ(e.code(), Code::io_error);
  EXPECT_NE(e.hint().find("space"), string::npos);

  const int status = in_child([&] {
    handle_interrupts();
    const rlimit limit{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    OutputFile file(path("a"));
    file.write(bytes(string(2000, 'x')));
    return 0;
  });
  EXPECT_EQ(status, exited_with(Code::io_error));
  EXPECT_EQ(entries(), 0u);
}

TEST_F(Files, DevicesAndPipesAreWrittenInPlace) {
  OutputFile null("/dev/null");
  EXPECT_FALSE(null.can_rewrite());
  null.write(bytes("x"));
  null.commit();
  EXPECT_TRUE(fs::is_character_file("/dev/null"));

  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  const int reader = open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  OutputFile pipe(path("pipe"));
  pipe.write(bytes("through"));
  pipe.commit();
  char got[16];
  EXPECT_EQ(read(reader, got, sizeof got), 7);
  close(reader);
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, StandardInputMayBeAFileReadHalfWay) {
  put("a", "0123456789");
  const int status = in_child([&] {
    const int descriptor = open(path("a").c_str(), O_RDONLY);
    lseek(descriptor, 4, SEEK_SET);
    dup2(descriptor, STDIN_FILENO);
    InputFile file("-");
    char rest[16];
    return file.size() == 6u && file.read(std::as_writable_bytes(std::span(rest))) == 6 && rest[0] == '4' ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
}

TEST_F(Files, AClosedReaderIsAnError) {
  const int status = in_child([&] {
    handle_interrupts();
    int ends[2];
    if (pipe(ends) != 0) return 1;
    close(ends[0]);
    dup2(ends[1], STDOUT_FILENO);
    OutputFile file("-");
    file.write(bytes("x"));
    return 0;
  });
  EXPECT_EQ(status, exited_with(Code::io_error));
}

// ---- signals ----------------------------------------------------------------------------------------------

TEST_F(Files, OneSignalUnwindsAndRemovesTheTemporary) {
  const int status = in_child([&] {
    handle_interrupts();
    OutputFile file(path("a"));
    file.write(bytes("x"));
    raise(SIGINT);
    file.write(bytes("y"));
    return 0;
  });
  EXPECT_EQ(status, exited_with(Code::interrupted));
  EXPECT_EQ(entries(), 0u);
}

// interrupt_noticed() tells other threads that the program is shutting down.
TEST_F(Files, AnInterruptIsNoticedOnceItIsThrown) {
  const int status = in_child([&] {
    handle_interrupts();
    throw_if_interrupted();
    raise(SIGINT);
    if (interrupt_noticed()) return 1;
    try {
      throw_if_interrupted();
    } catch (const Error&) {
      return interrupt_noticed() ? 0 : 2;
    }
    return 3;
  });
  EXPECT_EQ(status, 0);
}

TEST_F(Files, ASecondSignalEndsTheProgramAndRemovesTheTemporary) {
  const int status = in_child([&] {
    handle_interrupts();
    OutputFile kept(path("kept")), file(path("a"));
    kept.commit();
    raise(SIGTERM);
    raise(SIGINT);
    return 0;
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGINT);
  EXPECT_EQ(entries(), 1u);
  EXPECT_TRUE(fs::exists(path("kept")));
}

// Several renames are done completely or not at all: nothing is unlinked and no signal interrupts them.
TEST_F(Files, SignalsWaitForRenames) {
  const int status = in_child([&] {
    handle_interrupts();
    OutputFile a(path("a")), b(path("b"));
    {
      const Uninterrupted all_or_none;
      for (int k = 0; k < 3; ++k) raise(SIGINT);
      if (entries() != 2 || interrupt_noticed()) return 1;
    }
    return interrupted() == SIGINT && interrupt_noticed() ? 0 : 2;
  });
  EXPECT_EQ(status, 0);
}

TEST_F(Files, NothingIsRenamedAfterASignal) {
  put("a", "old");
  const int status = in_child([&] {
    handle_interrupts();
    OutputFile a(path("a")), b(path("b"));
    raise(SIGTERM);
    OutputFile* const both[] = {&a, &b};
    commit_together(both);
    return 0;
  });
  EXPECT_EQ(status, exited_with(Code::interrupted));
  EXPECT_EQ(content("a"), "old");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, ALaterRenameThatFailsSaysWhereTheContentIs) {
  OutputFile a(path("a")), b(path("b"));
  b.write(bytes("new"));
  fs::create_directory(path("b"));
  OutputFile* const both[] = {&a, &b};
  const Error error = error_of([&] { commit_together(both); });
  EXPECT_NE(string(error.what()).find("a has been replaced, but cannot rename to"), string::npos) << error.what();
  const std::size_t at = error.hint().find(path(".upsweep-"));
  ASSERT_NE(at, string::npos) << error.hint();
  EXPECT_EQ(content(error.hint().substr(at, error.hint().find(':') - at).substr(folder.size() + 1)), "new");
  EXPECT_EQ(entries(), 3u) << "and no journal";
}

// Leaves the files of a program killed after the first of two renames; the journal is next to the second output.
class KilledCommit : public Files {
 protected:
  void SetUp() override {
    Files::SetUp();
    put("a", "new");
    put("b", "old");
    put(".upsweep-1-1.tmp", "new");
    std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a of "b"
    hash = (hash ^ 'b') * 0x100000001b3;
    char name[40];
    std::snprintf(name, sizeof name, ".upsweep-%016llx.commit", static_cast<unsigned long long>(hash));
    journal = name;
    put(journal, "3\n" + path(".upsweep-1-0.tmp") + "\n" + path("a") + "\n3\n" + path(".upsweep-1-1.tmp") + "\n" +
                     path("b") + "\n");
  }
  string journal;
};

TEST_F(KilledCommit, TheNextRunFinishesIt) {
  testing::internal::CaptureStderr();
  std::byte all[8];
  EXPECT_EQ(InputFile(path("b")).read(all), 3u);
  EXPECT_NE(
      testing::internal::GetCapturedStderr().find(path("b") + " has been replaced: the run that wrote it was killed"),
      string::npos);
  EXPECT_EQ(content("b"), "new");
  EXPECT_EQ(entries(), 2u);
}

TEST_F(KilledCommit, WhatHasChangedSinceStays) {
  fs::last_write_time(path("b"), fs::last_write_time(path(journal)) + std::chrono::seconds(1));
  testing::internal::CaptureStderr();
  OutputFile(path("b"));
  EXPECT_NE(testing::internal::GetCapturedStderr().find("it stays"), string::npos);
  EXPECT_EQ(content("b"), "old");
  EXPECT_EQ(entries(), 2u);
}

TEST_F(KilledCommit, AProgramAtWorkIsLeftAlone) {
  const int lock = open(path(journal).c_str(), O_RDONLY);
  ASSERT_EQ(flock(lock, LOCK_EX), 0);
  InputFile(path("b"));
  EXPECT_EQ(content("b"), "old");
  close(lock);
  put(journal, "9\n" + path(".upsweep-1-1.tmp") + "\n" + path("b") + "\n3\n/etc/passwd\n" + path("b") + "\n");
  InputFile(path("b"));
  EXPECT_EQ(content("b"), "old") << "of another size, and none of ours";
}

// Files that are useful when incomplete: neither the old file nor the finished part of the new one is lost.
TEST_F(Files, WhatIsFinishedMayBeKept) {
  put("a", "old");
  for (const int signals : {1, 2}) {
    const int status = in_child([&] {
      handle_interrupts();
      OutputFile file(path("a"));
      file.write(bytes("first"));
      if (file.keep_if_interrupted() != path("a") + ".partial") return 1;
      for (int k = 0; k < signals; ++k) raise(SIGINT);
      file.write(bytes("second"));
      return 0;
    });
    if (signals == 1)
      EXPECT_EQ(status, exited_with(Code::interrupted));
    else
      EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(content("a"), "old");
    EXPECT_EQ(content("a.partial"), "first") << signals;
    EXPECT_EQ(entries(), 2u);
    fs::remove(path("a.partial"));
  }
  EXPECT_FALSE(OutputFile("/dev/null").keep_if_interrupted());
}

TEST_F(Files, ASignalEndsABlockedRead) {
  const int status = in_child([&] {
    handle_interrupts();
    int ends[2];
    if (pipe(ends) != 0) return 1;
    dup2(ends[0], STDIN_FILENO);
    const pid_t reader = getpid();
    if (fork() == 0) {
      // Repeats until the reader has exited, because the first signal may arrive before the reader blocks.
      while (kill(reader, SIGTERM) == 0 && getppid() == reader) usleep(1000);
      _exit(0);
    }
    std::byte byte;
    InputFile("-").read({&byte, 1});
    return 0;
  });
  // The first signal unwinds; a second one during unwinding ends the program. Both endings are right.
  EXPECT_TRUE(status == exited_with(Code::interrupted) || (WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM));
}

// ---- raw binary -------------------------------------------------------------------------------------------

TEST_F(Files, RawThereAndBack) {
  {
    auto writer = create_array(path("a.bin"), Type::u32, std::nullopt);
    const std::uint32_t elements[] = {1, 2, 3};
    writer->write(std::as_bytes(std::span(elements)));
    writer->commit();
  }
  EXPECT_EQ(fs::file_size(path("a.bin")), 12u);
  auto reader = open_array(path("a.bin"), Type::u32);
  EXPECT_EQ(reader->count(), 3u);
  std::uint32_t back[4];
  EXPECT_EQ(reader->read(std::as_writable_bytes(std::span(back))), 3u);
  EXPECT_EQ(back[2], 3u);
  EXPECT_EQ(reader->read(std::as_writable_bytes(std::span(back))), 0u);
}

TEST_F(Files, RaggedRawFilesAreRefused) {
  put("a.bin", "12345");
  const Error known = error_of([&] { open_array(path("a.bin"), Type::i32); });
  EXPECT_EQ(known.code(), Code::bad_file);
  EXPECT_NE(string(known.what()).find("5 bytes"), string::npos);
  RawReader reader(std::make_unique<MemorySource>("12345", false), Type::i32);
  std::byte buffer[8];
  EXPECT_EQ(error_of([&] { reader.read(buffer); }).code(), Code::bad_file);
}

TEST_F(Files, FormatFollowsContentThenType) {
  put("a.bin", "12345678");
  EXPECT_EQ(error_of([&] { open_array(path("a.bin"), {}, FileFormat::raw); }).code(), Code::invalid_argument);
  EXPECT_EQ(error_of([&] { open_array(path("a.bin")); }).code(), Code::bad_file);  // without a type it must be .npy
  create_array(path("b.npy"), Type::i64, 0)->commit();
  EXPECT_EQ(open_array(path("b.npy"))->type(), Type::i64);
  EXPECT_EQ(error_of([&] { open_array(path("b.npy"), Type::f64); }).code(), Code::invalid_argument);
  EXPECT_EQ(open_array(path("b.npy"), Type::f64, FileFormat::raw)->count(), 16u);  // all bytes, the header included
  fs::rename(path("b.npy"), path("c.bin"));
  EXPECT_EQ(open_array(path("c.bin"))->count(), 0u) << "content decides";
  EXPECT_EQ(error_of([&] { open_array(path("c.bin"), Type::u32); }).code(), Code::invalid_argument);
  EXPECT_EQ(create_array(path("D.NPY"), Type::i32, 0)->file().name(), path("D.NPY"));
  EXPECT_EQ(error_of([&] { create_array("/dev/null", Type::i32, {}, FileFormat::npy); }).code(), Code::unsupported);
}

// Files that are recognised by content; files of a known name only, which is an error; and raw numbers.
TEST_F(Files, ContentDecides) {
  using namespace std::string_view_literals;
  const auto refused = [&](const string& name, std::string_view text) {
    put(name, text);
    const Error error = error_of([&] { open_array(path(name), Type::u8); });
    EXPECT_EQ(error.code(), Code::bad_file);
    return error.what() + (" | " + error.hint());
  };
  const std::pair<std::string_view, const char*> others[] = {{"PK\3\4..", "unzip -p"},
                                                             {"\x1f\x8b\x08...", "gzip"},
                                                             {"BZh91AY&SY..", "bzip2"},
                                                             {"\xfd"
                                                              "7zXZ\0..."sv,
                                                              "xz -dc"},
                                                             {"\x28\xb5\x2f\xfd..", "zstd"},
                                                             {"\x89HDF\r\n\x1a\n...", "HDF5"},
                                                             {"MATLAB 5.0 MAT-file, ", "loadmat"},
                                                             {"II*\0...."sv, "TIFF"},
                                                             {"GIF89a..", "GIF"},
                                                             {"RIFF....WEBPVP8 ", "WebP"},
                                                             {"RIFF....WAVEfmt ", "wavfile.read"},
                                                             {"\0\0\0\x1c"
                                                              "ftypavif...."sv,
                                                              "AVIF"},
                                                             {"BM....\0\0\0\0...."sv, "BMP"},
                                                             {"v/1\1...."sv, "OpenEXR"},
                                                             {"SIMPLE  =  T", "FITS"},
                                                             {"PAR1....", "Parquet"}};
  for (const auto& [text, words] : others)
    for (const char* name : {"a.bin", "a.npy"}) EXPECT_NE(refused(name, text).find(words), string::npos) << words;
  EXPECT_NE(refused("a.bin", "\x93NUMPY..").find("format 46.46"), string::npos);
  EXPECT_NE(refused("a.bin", "\x89PNG\r\n\x1a\n....").find("not a PNG"), string::npos);
  EXPECT_NE(refused("a.bin", "\xff\xd8\xff\xe0....").find("not a JPEG"), string::npos);
  EXPECT_NE(refused("a.bin", "P3 1 1 255").find("not a binary PGM"), string::npos);
  for (const char* name : {"a.npy", "a.NPY", "a.Png", "a.jpg", "a.JPEG", "a.pgm"})
    EXPECT_NE(refused(name, "12345678").find(" is not a "), string::npos) << name << ": damaged";
  for (const std::string_view text :
       {"12345678"sv, "P5"sv, "P5ab"sv, "PK"sv, "BM"sv, "RIFF"sv, "BM......"sv, "\x93NUMPX"sv, "BZh9...."sv}) {
    put("a.bin", text);
    EXPECT_EQ(open_array(path("a.bin"), Type::u8)->count(), text.size()) << text;
    put("b.bin", "PK\3\4....");
    EXPECT_EQ(open_array(path("b.bin"), Type::u8, FileFormat::raw)->count(), 8u);
  }
  // The same through a pipe, without losing a byte.
  auto pipe =
      open_array(std::make_unique<MemorySource>(string(100, 'x') + "y", false), Type::u8, FileFormat::automatic);
  std::byte all[200];
  EXPECT_EQ(pipe->read(all), 101u);
  EXPECT_EQ(all[100], std::byte{'y'});
}

TEST_F(Files, ReadingEndsAtTheSizeKnownAtTheStart) {
  put("a.bin", "1234");
  auto reader = open_array(path("a.bin"), Type::u8);
  std::ofstream(path("a.bin"), std::ios::app) << "5678";
  std::byte all[8];
  EXPECT_EQ(reader->read(all), 4u);
  EXPECT_EQ(reader->read(all), 0u);
}

// Appending an output to its own input would never end, and two outputs in one file would interleave.
TEST_F(Files, AFileThatIsWrittenInPlaceIsNothingElse) {
  put("a", "old");
  fs::create_hard_link(path("a"), path("b"));
  const int appended = open(path("a").c_str(), O_WRONLY | O_APPEND);
  const string descriptor = "/dev/fd/" + std::to_string(appended);
  const auto refused = [&](const string& first, const string& second) {
    const Error error = error_of([&] {
      const auto open_as = [&](const string& name) -> std::shared_ptr<void> {
        if (name[0] == '<') return std::make_shared<InputFile>(name.substr(1));
        return std::make_shared<OutputFile>(name);
      };
      const auto one = open_as(first), two = open_as(second);
    });
    EXPECT_EQ(error.code(), Code::invalid_argument);
    return string(error.what());
  };
  for (const char* name : {"a", "b"}) {
    EXPECT_NE(refused("<" + path(name), descriptor).find("the input is the output"), string::npos);
    EXPECT_NE(refused(descriptor, "<" + path(name)).find("the input is the output"), string::npos);
    EXPECT_NE(refused(descriptor, path(name)).find("two outputs cannot both be"), string::npos)
        << "it would be replaced";
    EXPECT_NE(refused(path(name), descriptor).find("two outputs cannot both be"), string::npos);
  }
  EXPECT_NE(refused(descriptor, descriptor).find("two outputs cannot both be"), string::npos);
  InputFile in(path("a"));
  OutputFile replaced(path("a")), discarded("/dev/null"), twice("/dev/null");
  close(appended);
}

TEST_F(Files, ASpoolHasNoName) {
  Spool spool(folder);
  spool.write(bytes("abcdef"));
  spool.write(bytes("ghi"));
  EXPECT_EQ(entries(), 0u);
  EXPECT_EQ(spool.size(), 9u);
  string middle(4, ' ');
  spool.read(4, std::as_writable_bytes(std::span(middle)));
  EXPECT_EQ(middle, "efgh");
  spool.write(bytes("j"));  // appended, wherever the last read was
  spool.read(6, std::as_writable_bytes(std::span(middle)));
  EXPECT_EQ(middle, "ghij");

  Spool nowhere(path("missing"));
  const Error missing = error_of([&] { nowhere.write(bytes("a")); });
  EXPECT_EQ(missing.code(), Code::io_error);
  EXPECT_NE(string(missing.what()).find("cannot keep temporary data in"), string::npos);
}

TEST_F(Files, ASpoolOnAFullDisk) {
  EXPECT_EQ(in_child([&] {
              std::signal(SIGXFSZ, SIG_IGN);
              const rlimit limit{1000, 1000};
              setrlimit(RLIMIT_FSIZE, &limit);
              Spool spool(folder);
              spool.write(std::vector<std::byte>(2000));
              return 0;
            }),
            exited_with(Code::io_error));
  EXPECT_EQ(entries(), 0u);
}

// ---- text in messages -------------------------------------------------------------------------------------

TEST(Quoted, NothingReachesTheTerminalAsACommand) {
  EXPECT_EQ(in_quotes("plain, caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x8c\xb2"),
            "'plain, caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x8c\xb2'");
  EXPECT_EQ(printable(string("a\0b", 3)), "a\\x00b") << "a NUL does not end a message";
  EXPECT_EQ(printable("\x1b[2J\x7f\n\r\t"), "\\x1b[2J\\x7f\\n\\r\\t");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "\\xc2\\x9b2J")
      << "control characters of eight bits";
  EXPECT_EQ(printable("\xe2\x80\xae\xe2\x80\xa8"), "\\xe2\\x80\\xae\\xe2\\x80\\xa8") << "right to left, a line's end";
  for (const string bytes :
       {"\x80", "\xff", "\xc3", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc3("})
    EXPECT_TRUE(printable(bytes).starts_with("\\x")) << "not UTF-8";
}

TEST(Quoted, LongTextsAreShortened) {
  EXPECT_EQ(printable("0123456789", 10), "0123456789");
  EXPECT_EQ(printable("0123456789a", 9), "012345...89a");
  EXPECT_EQ(printable(string(50'000'000, 'x')).size(), longest_name + 3);
  EXPECT_EQ(in_quotes(string(1000, '\n')).size(), 2 * longest_quoted + 5);
  string trees;
  for (int k = 0; k < 20; ++k) trees += "\xf0\x9f\x8c\xb2";
  const string few = printable(trees, 9);
  EXPECT_EQ(few.find("\\x"), string::npos) << few << ": no character is cut";
  EXPECT_EQ(printable("", 9), "");
}

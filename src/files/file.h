// Files read from front to back and written whole or not at all. `-` is standard input or standard output.
//
// A file that is written in place can be nothing else at that time: as an input it would grow as it is read, and as
// another output it would hold a mixture. Whichever is opened last is refused, by what the file is, not by its name.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "files/interrupt.h"
#include "files/open_files.h"
#include "upsweep/error.h"

namespace upsweep {

// The most that one system call moves, so that a signal is noticed within a second on any disk. (Linux itself stops at
// 2 GiB - 4 KiB.)
inline constexpr std::size_t most_at_once = std::size_t{64} << 20;

// Occupies those of descriptors 0 to 2 that are closed, so that no file that is opened becomes standard output. Reading
// or writing them fails as if they were closed. For programs, at their start.
void occupy_standard_descriptors();

// The program that was reading what we write has ended.
struct ReaderGone : Error {
  using Error::Error;
};

// Throws Error(io_error) for a system call that failed with this errno: "cannot read a.npy: Is a directory", and what
// to do about it. It is ReaderGone for EPIPE.
[[noreturn]] void throw_io_error(const std::string& what, int error);

// Whether a path ends so, in whatever case: T.PNG ends in ".png".
bool has_ending(std::string_view path, std::string_view ending);

// Bytes in order. Format readers take a Source, so that they can also read from memory.
class Source {
 public:
  virtual ~Source() = default;
  // Fills `to` and returns the bytes read: fewer only at the end. Throws Error(io_error) or Error(interrupted).
  virtual std::size_t read(std::span<std::byte> to) = 0;
  // Bytes in total, if known before reading; empty for a pipe.
  virtual std::optional<std::uint64_t> size() const = 0;
  // For messages: a path made printable (files/quoted.h), or "standard input".
  virtual const std::string& name() const = 0;
  // Whether any part can be read, in any order: not of a pipe.
  virtual bool can_read_at() const { return false; }
  // Fills `to` from `offset`, counted from where reading began, and returns the bytes read, as read() does, which goes
  // on where it was. Requires can_read_at().
  virtual std::size_t read_at(std::uint64_t, std::span<std::byte>) { return 0; }
};

class InputFile final : public Source {
 public:
  // Throws Error(io_error) if the file cannot be opened or is a directory.
  explicit InputFile(const std::string& path);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile() override;
  std::size_t read(std::span<std::byte> to) override;
  std::optional<std::uint64_t> size() const override { return size_; }
  const std::string& name() const override { return name_; }
  bool can_read_at() const override { return size_.has_value(); }
  std::size_t read_at(std::uint64_t offset, std::span<std::byte> to) override;

 private:
  // Fills `to` by get(part of `to`, bytes done), which returns what read() and pread() do.
  template <class Get>
  std::size_t fill(std::span<std::byte> to, Get get);

  std::string name_;
  int descriptor_ = -1;
  std::uint64_t begin_ = 0;  // of a regular file: where reading began
  std::optional<std::uint64_t> size_;
  std::optional<OpenFile> open_;
};

// Writes to a temporary file in the same folder, which commit() renames to its final name. Without commit() the
// destructor removes it, and a file that existed before is unchanged. A target that cannot be renamed over (a pipe, a
// device) is written in place, and so is an open descriptor, under whatever name: `-`, /dev/stdout, /dev/fd/3. A
// symbolic link stays, and the file that it leads to is replaced; of a hard link, the other names keep the old file.
// Permissions stay, and so does the owner, if we may give files away. Every member throws Error(io_error); write also
// throws Error(interrupted).
class OutputFile {
 public:
  // Creates the temporary file, so that an unwritable path is found before any work is done.
  explicit OutputFile(const std::string& path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  void write(std::span<const std::byte> bytes);
  // Replaces bytes already written, at `offset` from the beginning. Requires can_rewrite().
  void rewrite(std::uint64_t offset, std::span<const std::byte> bytes);
  bool can_rewrite() const { return temporary_.has_value(); }
  // For files that are of use in part: from now on, if a signal ends the program before commit(), what was written
  // stays beside the target, under this name. Returns nothing for a target that is written in place.
  std::optional<std::string> keep_if_interrupted();
  // Ends writing. What a disk has to say about it is known after this, so several files are all finished before the
  // first is committed.
  void finish();
  bool finished() const { return descriptor_ < 0; }
  // commit_together() of this file alone (files/commit.h).
  void commit();
  const std::string& name() const { return name_; }

 private:
  friend void commit_together(std::span<OutputFile* const> files);
  void open_target(const std::string& path);
  void close_descriptor();
  [[noreturn]] void fail(const char* what, int error) const;
  struct Temporary {
    std::string path, target;
    std::unique_ptr<GuardedPath> guard;
    std::optional<std::string> kept;  // its name if a signal comes
  };
  std::string name_;
  int descriptor_ = -1;
  std::optional<Temporary> temporary_;
  std::optional<OpenFile> open_;
};

}  // namespace upsweep

// Files read sequentially, and written completely or not at all. `-` is standard input or standard output.
//
// A file that is written in place cannot be opened twice: as an input it would grow while it is read, and a second
// output would be interleaved with the first. The second opening is refused; files are compared by identity, not by
// name.
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

// Maximum bytes per system call, so that a signal is noticed within a second on any disk. (Linux itself stops at 2 GiB
// - 4 KiB.)
inline constexpr std::size_t most_at_once = std::size_t{64} << 20;

// Opens those of the descriptors 0 to 2 that are closed, so that no file opened later becomes standard output. Reading
// or writing them still fails. Programs call this at startup.
void occupy_standard_descriptors();

// Thrown if the process that was reading our output has ended.
struct ReaderGone : Error {
  using Error::Error;
};

// Throws Error(io_error) for a system call that failed with this errno: "cannot read a.npy: Is a directory", with a
// hint. Throws ReaderGone for EPIPE.
[[noreturn]] void throw_io_error(const std::string& what, int error);

// True if a path has this extension, ignoring case: T.PNG ends in ".png".
bool has_ending(std::string_view path, std::string_view ending);

// A byte stream. Format readers take a Source, so that they can also read from memory.
class Source {
 public:
  virtual ~Source() = default;
  // Fills `to` and returns the number of bytes read: fewer than requested only at the end. Throws Error(io_error) or
  // Error(interrupted).
  virtual std::size_t read(std::span<std::byte> to) = 0;
  // Returns the total number of bytes if it is known before reading; nullopt for a pipe.
  virtual std::optional<std::uint64_t> size() const = 0;
  // Returns the name for messages: a printable path (files/quoted.h), or "standard input".
  virtual const std::string& name() const = 0;
  // True if read_at() works; false for a pipe.
  virtual bool can_read_at() const { return false; }
  // Fills `to` from `offset`, relative to where reading began, and returns the bytes read, without moving the position
  // of read(). Requires can_read_at().
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
  // Fills `to` by repeatedly calling get(rest of `to`, bytes done), which returns a number of bytes, or -1, as read()
  // and pread() do.
  template <class Get>
  std::size_t fill(std::span<std::byte> to, Get get);

  std::string name_;
  int descriptor_ = -1;
  std::uint64_t begin_ = 0;  // a regular file's offset at which reading began
  std::optional<std::uint64_t> size_;
  std::optional<OpenFile> open_;
};

// Writes to a temporary file in the same folder, which commit() renames to its final name. Without commit(), the
// destructor removes it, and an existing file is unchanged. A target that cannot be replaced by renaming (a pipe, a
// device) is written in place, and so is an open descriptor, under any name: `-`, /dev/stdout, /dev/fd/3. A symbolic
// link is kept, and its target is replaced; other hard links keep the old file. Permissions are kept, and so is the
// owner if this process may chown. Every member throws Error(io_error); write also throws Error(interrupted).
class OutputFile {
 public:
  // Creates the temporary file, so that an unwritable path fails before any work is done.
  explicit OutputFile(const std::string& path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  void write(std::span<const std::byte> bytes);
  // Overwrites bytes already written, at `offset` from the beginning. Requires can_rewrite().
  void rewrite(std::uint64_t offset, std::span<const std::byte> bytes);
  bool can_rewrite() const { return temporary_.has_value(); }
  // For files that are useful when incomplete: if a signal ends the program before commit(), the bytes written so far
  // stay next to the target, under the returned name. Returns nullopt for a target that is written in place.
  std::optional<std::string> keep_if_interrupted();
  // Ends writing. Any write error has been reported when finish() returns, so several files are all finished before the
  // first is committed.
  void finish();
  bool finished() const { return descriptor_ < 0; }
  // Calls commit_together() for this file alone (files/commit.h).
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
    std::optional<std::string> kept;  // the name that the file gets if a signal arrives
  };
  std::string name_;
  int descriptor_ = -1;
  std::optional<Temporary> temporary_;
  std::optional<OpenFile> open_;
};

}  // namespace upsweep

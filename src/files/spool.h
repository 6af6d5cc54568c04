// Temporary storage for bytes that do not fit in memory: a first pass writes them, a second reads them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace upsweep {

// An unnamed file, which disappears when the program ends, however it ends. Created by the first write(). Every member
// throws Error(io_error) and Error(interrupted).
class Spool {
 public:
  explicit Spool(std::string folder) : folder_(std::move(folder)) {}
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;
  ~Spool();

  // Appends the bytes to the file.
  void write(std::span<const std::byte> bytes);
  // Fills `to` with the bytes from `offset` on, which must have been written.
  void read(std::uint64_t offset, std::span<std::byte> to) const;
  std::uint64_t size() const { return size_; }
  // Throws unless a file can be created in the folder.
  static void require(const std::string& folder) { Spool(folder).create(); }

 private:
  void create();
  [[noreturn]] void fail(int error) const;

  std::string folder_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

// Returns the folder for large temporary files: TMPDIR, or else /var/tmp, because /tmp is in memory on many systems.
std::string spool_folder();

}  // namespace upsweep

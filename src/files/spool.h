// Bytes that do not fit in memory, between a first pass that writes them and a second one that reads them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace upsweep {

// A file without a name, which is gone when the program ends, however it ends. It is created by the first write().
// Every member throws Error(io_error) and Error(interrupted).
class Spool {
 public:
  explicit Spool(std::string folder) : folder_(std::move(folder)) {}
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;
  ~Spool();

  // Appends.
  void write(std::span<const std::byte> bytes);
  // Fills `to` with the bytes from `offset` on. They have been written.
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

// Returns the folder for temporary files that may be large: TMPDIR, or else /var/tmp, because /tmp is memory on many
// systems.
std::string spool_folder();

}  // namespace upsweep

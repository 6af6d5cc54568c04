// The shared library that contains this runtime and its kernels: its address range and its symbols.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace upsweep::simt {

class Module {
 public:
  Module();

  bool contains(std::uintptr_t address) const { return address - begin_ < size_; }
  // Returns the library's load address. Addresses in reports are relative to it, as the symboliser expects.
  std::uintptr_t load_address() const { return load_address_; }
  const std::string& path() const { return path_; }

  // Returns this thread's copy of the library's thread_local variables: the static __shared__ memory of all its
  // kernels.
  std::span<std::byte> thread_storage() const;
  struct Variable {
    std::size_t offset, size;  // in thread_storage()
    std::string name;          // demangled
    bool guard;                // the compiler's "has been constructed" flag of another variable
  };
  // Returns null for padding between variables, and always null if the library was stripped.
  const Variable* variable_at(std::size_t offset) const;
  bool has_symbols() const { return !variables_.empty(); }
  // Returns the name without return type and parameter list: "upsweep::reduce::total_kernel<float, upsweep::Sum>".
  std::string function_name(const void* function) const;
  // Returns the bytes of the __shared__ variables that the kernel itself declares, without those of its callees; 0 if
  // the library was stripped.
  std::size_t static_shared(const void* kernel) const;
  // True for code of this library outside the runtime. Allocates nothing, so a signal handler may call it.
  bool is_kernel_code(const void* address) const;

 private:
  struct Function;
  void read_symbols();
  const Function* function_at(const void* address) const;
  std::uintptr_t begin_ = 0, size_ = 0, load_address_ = 0;
  std::string path_;
  std::size_t thread_bytes_ = 0;
  std::size_t anchor_offset_ = 0;               // of current_worker in the thread storage
  std::vector<Variable> variables_;             // by offset
  std::vector<std::int32_t> variable_of_byte_;  // index into variables_, or -1
  std::map<std::string, std::size_t> sizes_;    // of thread-local variables, by mangled name
  struct Function {
    std::uintptr_t address, size;
    std::string mangled;
    bool runtime;  // of namespace upsweep::simt
  };
  std::vector<Function> functions_;  // by address
};

const Module& module();

}  // namespace upsweep::simt

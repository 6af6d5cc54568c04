#include "simt/module.h"

#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "simt/worker.h"

namespace upsweep::simt {
namespace {

std::string demangle(const char* mangled) {
  int status = 0;
  char* text = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  std::string result = status == 0 ? text : mangled;
  std::free(text);
  return result;
}

// "void f<int>(int const*)" -> "f<int>". Brackets nest: the parameter list begins at the first top-level "(".
std::string without_signature(const std::string& signature) {
  int depth = 0;
  std::size_t begin = 0, end = signature.size();
  for (std::size_t i = 0; i < signature.size(); ++i) {
    const char c = signature[i];
    if (c == '(' && depth == 0 && signature.compare(i, 21, "(anonymous namespace)") != 0) {
      end = i;
      break;
    }
    if (c == '<' || c == '(')
      ++depth;
    else if (c == '>' || c == ')')
      --depth;
    else if (c == ' ' && depth == 0)
      begin = i + 1;
  }
  return signature.substr(begin, end - begin);
}

// True for members of upsweep::simt, C functions, and the atomics, which CUDA puts in the global namespace.
bool is_runtime(std::string_view mangled) {
  if (mangled.substr(0, 2) != "_Z") return true;
  if (mangled.find("N7upsweep4simt") == 2 || mangled.find("NK7upsweep4simt") == 2) return true;
  const std::size_t name = mangled.find_first_not_of("0123456789", 2);
  return name != std::string_view::npos && mangled.substr(name, 6) == "atomic";
}

struct Mapping {
  const char* data = nullptr;
  std::size_t bytes = 0;
  explicit Mapping(const char* path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    struct stat info {};
    if (fstat(file, &info) == 0 && info.st_size > 0) {
      void* memory = mmap(nullptr, static_cast<std::size_t>(info.st_size), PROT_READ, MAP_PRIVATE, file, 0);
      if (memory != MAP_FAILED) {
        data = static_cast<const char*>(memory);
        bytes = static_cast<std::size_t>(info.st_size);
      }
    }
    close(file);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (data) munmap(const_cast<char*>(data), bytes);
  }
};

struct Found {
  std::uintptr_t begin = ~std::uintptr_t{0}, end = 0, load_address = 0, thread_begin = 0;
  std::size_t thread_bytes = 0;
  std::string path;
};

// Callback of dl_iterate_phdr(): stops at the loaded object that contains this function, and describes it in *result.
int find_own_object(dl_phdr_info* info, std::size_t, void* result) {
  Found found;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type == PT_LOAD) {
      const std::uintptr_t at = info->dlpi_addr + segment.p_vaddr;
      found.begin = std::min(found.begin, at);
      found.end = std::max(found.end, at + segment.p_memsz);
    } else if (segment.p_type == PT_TLS) {
      found.thread_bytes = segment.p_memsz;
    }
  }
  const auto here = reinterpret_cast<std::uintptr_t>(&find_own_object);
  if (here < found.begin || here >= found.end) return 0;
  found.load_address = info->dlpi_addr;
  found.thread_begin = reinterpret_cast<std::uintptr_t>(info->dlpi_tls_data);
  found.path = info->dlpi_name && *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
  *static_cast<Found*>(result) = std::move(found);
  return 1;
}

}  // namespace

Module::Module() {
  Found found;
  dl_iterate_phdr(find_own_object, &found);
  begin_ = found.begin;
  size_ = found.end - found.begin;
  load_address_ = found.load_address;
  path_ = found.path;
  thread_bytes_ = found.thread_bytes;
  anchor_offset_ = reinterpret_cast<std::uintptr_t>(&current_worker) - found.thread_begin;
  read_symbols();
}

std::span<std::byte> Module::thread_storage() const {
  return {reinterpret_cast<std::byte*>(&current_worker) - anchor_offset_, thread_bytes_};
}

void Module::read_symbols() {
  const Mapping file(path_.c_str());
  if (file.bytes < sizeof(Elf64_Ehdr) || std::memcmp(file.data, ELFMAG, SELFMAG) != 0) return;
  const auto& header = *reinterpret_cast<const Elf64_Ehdr*>(file.data);
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(file.data + header.e_shoff);
  for (int s = 0; s < header.e_shnum; ++s) {
    if (sections[s].sh_type != SHT_SYMTAB) continue;
    const auto* symbols = reinterpret_cast<const Elf64_Sym*>(file.data + sections[s].sh_offset);
    const char* const names = file.data + sections[sections[s].sh_link].sh_offset;
    for (std::size_t i = 0; i < sections[s].sh_size / sizeof *symbols; ++i) {
      const Elf64_Sym& symbol = symbols[i];
      const char* const name = names + symbol.st_name;
      if (!symbol.st_size || symbol.st_shndx == SHN_UNDEF) continue;
      if (ELF64_ST_TYPE(symbol.st_info) == STT_TLS) {
        variables_.push_back({symbol.st_value, symbol.st_size, demangle(name), std::strncmp(name, "_ZGV", 4) == 0});
        sizes_[name] = symbol.st_size;
      } else if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC) {
        functions_.push_back({load_address_ + symbol.st_value, symbol.st_size, name, is_runtime(name)});
      }
    }
  }
  std::sort(variables_.begin(), variables_.end(), [](auto& a, auto& b) { return a.offset < b.offset; });
  std::sort(functions_.begin(), functions_.end(), [](auto& a, auto& b) { return a.address < b.address; });
  variable_of_byte_.assign(thread_bytes_, -1);
  for (std::size_t v = 0; v < variables_.size(); ++v)
    for (std::size_t b = 0; b < variables_[v].size && variables_[v].offset + b < thread_bytes_; ++b)
      variable_of_byte_[variables_[v].offset + b] = static_cast<std::int32_t>(v);
}

const Module::Variable* Module::variable_at(std::size_t offset) const {
  if (offset >= variable_of_byte_.size() || variable_of_byte_[offset] < 0) return nullptr;
  return &variables_[static_cast<std::size_t>(variable_of_byte_[offset])];
}

const Module::Function* Module::function_at(const void* where) const {
  const auto address = reinterpret_cast<std::uintptr_t>(where);
  auto after = std::upper_bound(functions_.begin(), functions_.end(), address,
                                [](std::uintptr_t a, const Function& f) { return a < f.address; });
  if (after == functions_.begin()) return nullptr;
  const Function& found = *--after;
  return address < found.address + found.size ? &found : nullptr;
}

std::string Module::function_name(const void* function) const {
  const Function* found = function_at(function);
  return found ? without_signature(demangle(found->mangled.c_str())) : "a kernel";
}

// A local variable of the function _Z<function> has the mangled name _ZZ<function>E<variable>.
std::size_t Module::static_shared(const void* kernel) const {
  const Function* found = function_at(kernel);
  if (!found || found->mangled.substr(0, 2) != "_Z") return 0;
  const std::string prefix = "_ZZ" + found->mangled.substr(2) + "E";
  std::size_t bytes = 0;
  for (auto at = sizes_.lower_bound(prefix); at != sizes_.end() && at->first.starts_with(prefix); ++at)
    bytes += at->second;
  return bytes;
}

bool Module::is_kernel_code(const void* address) const {
  const Function* found = function_at(address);
  return found && !found->runtime;
}

const Module& module() {
  static const Module own;
  return own;
}

}  // namespace upsweep::simt

// Names, errors and requests, shared by the files of the C interface.
#pragma once
#include <deque>
#include <map>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "upsweep.h"
#include "upsweep/device.h"
#include "upsweep/invoke.h"

namespace upsweep {

// Names as null-terminated strings in a null-terminated array.
class Names {
 public:
  Names() = default;
  Names(Names&&) = default;  // a copy would point into the original
  void add(std::string_view name) {
    texts_.emplace_back(name);
    pointers_.back() = texts_.back().c_str();
    pointers_.push_back(nullptr);
  }
  const char* const* data() const { return pointers_.data(); }

 private:
  std::deque<std::string> texts_;  // a deque, so that the strings do not move
  std::vector<const char*> pointers_{nullptr};
};

}  // namespace upsweep

struct upsweep_device {
  upsweep::Device device;
  std::map<std::string, upsweep::Names, std::less<>> rungs;  // by primitive; filled on request
};

namespace upsweep::c {

// Keeps the message for upsweep_message(), and returns the code.
upsweep_code failed(Code code, std::string text);

// Calls f(). Returns UPSWEEP_OK, or the code of the exception that f() throws.
template <class F>
upsweep_code guarded(F&& f) noexcept {
  try {
    f();
    return UPSWEEP_OK;
  } catch (const Error& error) {
    const std::string hint = error.hint().empty() ? "" : " (" + error.hint() + ")";
    return failed(error.code(), error.what() + hint);
  } catch (const std::bad_alloc&) {
    return failed(Code::out_of_memory, "no memory");  // short enough for std::string not to allocate
  } catch (const std::exception& error) {
    return failed(Code::device_error, error.what());
  }
}

template <class T>
T* require(T* pointer, const char* name) {
  if (!pointer) throw Error(Code::invalid_argument, std::string(name) + " is null");
  return pointer;
}

// Returns the request of a call. Throws Error(invalid_argument) for unknown names.
Request request_of(const upsweep_call& call);

}  // namespace upsweep::c

// Host side of a test: device arrays, and launches of test kernels by name.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simt/report.h"
#include "test_launch.h"

namespace upsweep {
simt::Emulator& test_plain_emulator();
simt::Emulator& test_traced_emulator();
}  // namespace upsweep

namespace upsweep::test {

// n elements of device memory; freed with the object.
template <class T>
class Array {
 public:
  Array(simt::Emulator& emulator, std::size_t n)
      : emulator_(&emulator), data_(static_cast<T*>(emulator.allocate(n * sizeof(T)))), size_(n) {}
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { emulator_->release(data_); }
  // Sets element i to f(i).
  template <class F>
  Array& set(F&& f) {
    for (std::size_t i = 0; i < size_; ++i) data_[i] = static_cast<T>(f(i));
    return *this;
  }
  T& operator[](std::size_t i) { return data_[i]; }
  T* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  simt::Emulator* emulator_;
  T* data_;
  std::size_t size_;
};

struct Arguments {
  std::vector<const void*> in;
  std::vector<void*> out;
  std::size_t n = 0;
  Launch how{};
};

inline Status launch(simt::Emulator& emulator, std::string_view kernel, const Arguments& arguments) {
  const Rung* rung = find_rung(emulator.rungs(), "test", kernel);
  if (!rung) {
    ADD_FAILURE() << "no test kernel is called " << kernel;
    return {Code::invalid_argument};
  }
  Call call;
  for (std::size_t i = 0; i < arguments.in.size(); ++i) call.in[i].data = const_cast<void*>(arguments.in[i]);
  for (std::size_t i = 0; i < arguments.out.size(); ++i) call.out[i].data = arguments.out[i];
  call.in[0].count = arguments.n;
  set_launch(call, arguments.how);
  return rung->find(Type::f32, {})(call);
}

inline std::string to_string(const simt::Report& report) {
  std::string text;
  for (const auto& issue : report.issues)
    text += issue.kind + " x" + std::to_string(issue.count) + ": " + issue.text + "\n";
  return text;
}

}  // namespace upsweep::test

// The outputs of select's loops. Compiled once per instruction set, inside Highway's foreach_target, hence the toggling
// include guard.
#if defined(UPSWEEP_SELECT_CPU_LINES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef UPSWEEP_SELECT_CPU_LINES_INL_H
#undef UPSWEEP_SELECT_CPU_LINES_INL_H
#else
#define UPSWEEP_SELECT_CPU_LINES_INL_H
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace upsweep::ladders::select::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// An array written from front to back, or null: write up to `most` elements at end(), then call added(count).
template <class T, std::size_t most>
class Straight {
 public:
  explicit Straight(T* out) : end_(out) {}
  T* end() { return end_; }
  void added(std::size_t count) {
    if (end_) end_ += count;
  }

 private:
  T* end_;
};

// Like Straight, but with non-temporal stores, which need whole lines: elements are collected in L1 and streamed 4 KiB
// at a time. Shorter bursts of streaming stores were slower, as were bursts interleaved with other work or its loads.
template <class T, std::size_t most>
class Lines {
 public:
  explicit Lines(T* out) : others_(reinterpret_cast<std::uintptr_t>(out) / sizeof(T) % line), line_(out - others_) {}
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
  ~Lines() {
    stream();
    std::copy(held_ + others_, held_ + end_, line_ + others_);
    hwy::FlushStream();
  }
  T* end() { return held_ + end_; }
  HWY_INLINE void added(std::size_t count) {
    end_ += count;
    if (end_ >= page) stream();
  }

 private:
  void stream() {
    const hn::CappedTag<T, line> d;
    const std::size_t whole = end_ / line * line;
    if (whole == 0) return;
    std::size_t i = 0;
    if (others_ > 0) {
      std::copy(held_ + others_, held_ + line, line_ + others_);
      others_ = 0;
      i = line;
    }
    for (; i < whole; i += hn::Lanes(d)) hn::Stream(hn::Load(d, held_ + i), d, line_ + i);
    std::copy(held_ + whole, held_ + end_, held_);
    line_ += whole;
    end_ -= whole;
  }

  static constexpr std::size_t line = 64 / sizeof(T), page = 4096 / sizeof(T);
  alignas(64) T held_[page + most];  // the elements from line_ on; the first others_ belong to another part
  std::size_t others_, end_ = others_;
  T* line_;
};

}  // namespace upsweep::ladders::select::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

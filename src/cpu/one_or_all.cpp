#include "cpu/one_or_all.h"

#include <mutex>

namespace upsweep {
namespace {

std::mutex mutex;
std::vector<LearntCalls*> of_program;

// Returns a copy, because reading a state waits for the running call, which may need the mutex to register more calls.
std::vector<LearntCalls*> all_calls() {
  const std::lock_guard lock(mutex);
  return of_program;
}

}  // namespace

void LearntCalls::add_to_program() {
  const std::lock_guard lock(mutex);
  of_program.push_back(this);
}

std::vector<LearntCalls::Kind> learnt_kinds() {
  std::vector<LearntCalls::Kind> all;
  for (LearntCalls* calls : all_calls())
    for (LearntCalls::Kind& kind : calls->kinds()) all.push_back(std::move(kind));
  return all;
}

void forget_learnt() {
  for (LearntCalls* calls : all_calls()) calls->forget();
}

}  // namespace upsweep

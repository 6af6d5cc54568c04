#include "upsweep/tuning.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>

#include "base/contract.h"
#include "cpu/one_or_all.h"
#include "library/tuning.h"

namespace upsweep {

// Weak, so that a program that loads a tuning file does not link ladders that it does not call.
#define PRIMITIVE(name) extern const Contract name##_contract [[gnu::weak]];
#include "primitives.inc"
#undef PRIMITIVE

namespace {

std::vector<const Contract*> contracts_of_program() {
  std::vector<const Contract*> all;
  for (const Contract* contract : {
#define PRIMITIVE(name) &name##_contract,
#include "primitives.inc"
#undef PRIMITIVE
       })
    if (contract) all.push_back(contract);
  return all;
}

// True if a threshold is named after a ladder that this program does not contain.
bool is_of_other_ladder(std::string_view threshold) {
  const std::string_view ladder = threshold.substr(0, threshold.find('.'));
#define PRIMITIVE(name) \
  if (ladder == #name) return !&name##_contract;
#include "primitives.inc"
#undef PRIMITIVE
  return false;
}

// The thresholds of one name: each emulator's library has a separate copy of a GPU rung's threshold.
struct Named {
  std::string name;
  std::vector<Threshold*> copies{};
};

struct Setting {
  std::uint64_t value;
  std::string file;
};

// The program's thresholds, and the values that files have set.
class TuningFiles {
 public:
  // Adds the thresholds of a platform's rungs. Keeps pointers to thresholds only: they live as long as the program, the
  // platform may not.
  void add(const Platform& platform) {
    for (const Contract* contract : contracts_of_program())
      for (const Rung* rung : platform.rungs_of(*contract))
        for (Threshold* t : rung->thresholds) add(contract->name, t);
  }

  // Adds the thresholds of the CPU's and the GPU's rungs. Deferred until a file is read, so that a program that uses
  // only the CPU does not start CUDA.
  void add_devices() {
    add(cpu_platform());
    if (Platform* gpu = cuda_platform()) add(*gpu);
  }

  // Returns the thresholds in ladder order, those of a ladder's choose() before those of its rungs.
  std::vector<Named> all() const {
    std::vector<Named> names;
    const auto add = [&](std::string_view primitive, Threshold& t) {
      const std::string name = name_of(primitive, t);
      auto at = std::find_if(names.begin(), names.end(), [&](const Named& n) { return n.name == name; });
      if (at == names.end()) at = names.insert(at, {name});
      at->copies.push_back(&t);
    };
    for (const Contract* contract : contracts_of_program()) {
      for (Threshold* t : contract->thresholds) add(contract->name, *t);
      for (const OfRung& known : of_rungs_)
        if (known.primitive == contract->name) add(known.primitive, *known.threshold);
    }
    return names;
  }

  const Setting* setting(const std::string& name) const {
    const auto found = settings_.find(name);
    return found == settings_.end() ? nullptr : &found->second;
  }

  void load(const std::string& path);
  void reset() {
    for (const Named& named : all())
      for (Threshold* t : named.copies) t->reset();
    settings_.clear();
  }

 private:
  struct OfRung {
    std::string_view primitive;
    Threshold* threshold;
  };
  void add(std::string_view primitive, Threshold* t) {
    for (const OfRung& known : of_rungs_)
      if (known.threshold == t) return;
    of_rungs_.push_back({primitive, t});
    if (const Setting* const set = setting(name_of(primitive, *t))) t->set(set->value);
  }
  static std::string name_of(std::string_view primitive, const Threshold& t) {
    return std::string(primitive) + "." + std::string(t.name());
  }
  std::vector<OfRung> of_rungs_;
  std::map<std::string, Setting, std::less<>> settings_;
};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view space = " \t\r";
  const std::size_t begin = text.find_first_not_of(space);
  return begin == text.npos ? std::string_view() : text.substr(begin, text.find_last_not_of(space) + 1 - begin);
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Returns a hint that names the thresholds of the same ladder.
std::string hint_for(const std::vector<Named>& all, const std::string& name) {
  const std::string ladder = name.substr(0, name.find('.') + 1);
  std::string hint;
  for (const Named& n : all)
    if (!ladder.empty() && n.name.starts_with(ladder)) hint.append(" ").append(n.name);
  return hint.empty() ? "`upsweep list --thresholds` lists them all" : "there are" + hint;
}

void TuningFiles::load(const std::string& path) {
  add_devices();
  std::ifstream file(path);
  if (!file) throw Error(Code::io_error, "cannot open " + path + ": " + std::strerror(errno));
  const std::vector<Named> names = all();
  std::vector<std::pair<const Named*, std::uint64_t>> values;
  std::string text;
  for (std::size_t number = 1; std::getline(file, text); ++number) {
    const auto require = [&](bool right, const std::string& what, const std::string& hint) {
      if (!right) throw Error(Code::bad_file, path + ":" + std::to_string(number) + ": " + what, hint);
    };
    const std::string_view line = trimmed(text);
    if (line.empty() || line.front() == '#') continue;
    const std::size_t equals = line.find('=');
    require(equals != line.npos, "'" + std::string(line) + "' is not a threshold and a value",
            "expected a line such as sort.most_enumerated = 8192");
    const std::string name(trimmed(line.substr(0, equals))), value(trimmed(line.substr(equals + 1)));
    const auto named = std::find_if(names.begin(), names.end(), [&](const Named& n) { return n.name == name; });
    if (named == names.end() && is_of_other_ladder(name)) continue;
    require(named != names.end(), "this program has no threshold '" + name + "'", hint_for(names, name));
    const std::optional<std::uint64_t> parsed = whole_number(value);
    require(parsed.has_value(), name + ": '" + value + "' is not a whole number", "use digits only, below 2^64");
    const Bounds& bounds = named->copies.front()->bounds();
    require(*parsed >= bounds.min && *parsed <= bounds.max, name + " is " + value,
            "it must be from " + std::to_string(bounds.min) + " to " + std::to_string(bounds.max));
    require(std::none_of(values.begin(), values.end(), [&](const auto& v) { return v.first == &*named; }),
            name + " has a value already", "leave one of them out");
    values.emplace_back(&*named, *parsed);
  }
  if (file.bad()) throw Error(Code::io_error, "cannot read " + path + ": " + std::strerror(errno));
  for (const auto& [named, value] : values) {
    for (Threshold* t : named->copies) t->set(value);
    settings_.insert_or_assign(named->name, Setting{value, path});
  }
}

std::mutex mutex;

// Call with the mutex held.
TuningFiles& files() {
  static TuningFiles all;
  return all;
}
// Loads the file that UPSWEEP_TUNING names, once; an invalid file throws in every call. Call with the mutex held.
void read_environment() {
  static bool done = false;
  if (done) return;
  if (const char* path = std::getenv("UPSWEEP_TUNING"); path && *path) files().load(path);
  done = true;
}

}  // namespace

void load_tuning(const std::string& path) {
  const std::lock_guard lock(mutex);
  read_environment();
  files().load(path);
}

void reset_tuning() {
  const std::lock_guard lock(mutex);
  read_environment();
  files().reset();
  forget_learnt();
}

std::vector<ThresholdInForce> thresholds_in_force() {
  const std::lock_guard lock(mutex);
  read_environment();
  TuningFiles& all = files();
  all.add_devices();
  std::vector<ThresholdInForce> values;
  for (const Named& named : all.all()) {
    const Threshold& t = *named.copies.front();
    const Setting* const set = all.setting(named.name);
    values.push_back({named.name, t, t.measured(), set && set->value == t ? set->file : std::string()});
  }
  return values;
}

std::vector<Learnt> learnt() {
  std::vector<Learnt> all;
  for (LearntCalls::Kind& kind : learnt_kinds())
    all.push_back({std::move(kind.calls), kind.state.all, kind.state.one_us, kind.state.all_us});
  return all;
}

namespace detail {

void tune(Platform& platform) {
  const std::lock_guard lock(mutex);
  files().add(platform);
  read_environment();
}

}  // namespace detail
}  // namespace upsweep

// upsweep devices: lists the devices that this program can use.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "app/command.h"
#include "app/output.h"
#include "files/quoted.h"
#include "lab/backends.h"
#include "lab/grid.h"
#include "upsweep/tuning.h"

namespace upsweep::app {
namespace {

void declare(CLI::App& command, OutputOptions& o) { declare_output(command, o); }

int work(const OutputOptions& o) {
  Output output(o);
  lab::Grid grid({"backend", "device", "units", "memory", "cache", "driver", "compiler"});
  for (const Backend backend : lab::present_backends()) {
    const Description d = lab::open_platform(backend).describe();
    nlohmann::ordered_json json;
    json["backend"] = to_string(backend);
    json["device"] = d.device;
    json["units"] = d.units;
    json["memory_bytes"] = d.memory_bytes;
    json["cache_bytes"] = d.cache_bytes;
    json["driver"] = d.driver;
    json["compiler"] = d.compiler;
    json["flags"] = d.flags;
    output.json_line(json.dump());
    const auto size = [](std::size_t bytes, std::size_t unit, const char* name) {
      return bytes ? fmt::format("{:.3g} {}", static_cast<double>(bytes) / static_cast<double>(unit), name)
                   : std::string();
    };
    grid.add({{std::string(to_string(backend))},
              {d.device},
              {fmt::format("{}", d.units)},
              {size(d.memory_bytes, std::size_t{1} << 30, "GiB")},
              {size(d.cache_bytes, std::size_t{1} << 20, "MiB")},
              {d.driver},
              {d.compiler}});
  }
  output.table(grid.text(output.terminal()));
  output.commit();
  std::set<std::string> files;
  for (const ThresholdInForce& t : thresholds_in_force())
    if (!t.file.empty()) files.insert(t.file);
  for (const std::string& file : files) message("thresholds are set by " + printable(file));
  if (!cuda_platform()) message("no CUDA device: " + why_no_cuda());
  return Exit::all_right;
}

}  // namespace

void add_devices(CLI::App& app, int& exit_code) {
  add_command<OutputOptions>(app, exit_code, "devices", "List what this program can run on",
                             "  upsweep devices\n  upsweep devices --json | jq .device\n", declare, work);
}

}  // namespace upsweep::app

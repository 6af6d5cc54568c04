// Times calls of groups beside those of one device.
#pragma once
#include <string>

#include "app/output.h"
#include "app/select.h"

namespace upsweep::app {

struct GroupBench {
  const CaseOptions& cases;
  std::string devices;  // numbers of members: "1,2,4"
  bool per_device;      // -n is the number of elements of each member, not of all
  int samples;
};

// Times every case on every number of members, and between them a copy of each member's memory to the next one's. Every
// result is compared with that of one device before it is timed.
int bench_groups(const GroupBench& bench, Output& output);

}  // namespace upsweep::app

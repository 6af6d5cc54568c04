#include "simt/block.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace upsweep::simt {

void Block::shape(dim3 shape) {
  threads = shape.x * shape.y * shape.z;
  lanes.assign(threads, {});
  warps.assign((threads + 31) / 32, {});
  for (unsigned w = 0; w < warps.size(); ++w) {
    const unsigned count = std::min(32u, threads - w * 32);
    warps[w].index = w;
    warps[w].lanes = &lanes[w * 32];
    warps[w].block = this;
    warps[w].members = count == 32 ? ~0u : (1u << count) - 1;
  }
  for (unsigned i = 0; i < threads; ++i) {
    lanes[i].thread = {i % shape.x, i / shape.x % shape.y, i / (shape.x * shape.y)};
    lanes[i].index = static_cast<std::uint16_t>(i);
    lanes[i].warp = &warps[i / 32];
    lanes[i].block = this;
  }
}

void Block::start(uint3 block_index) {
  index = block_index;
  live = threads;
  arrived = 0;
  votes = 0;
  divergence_reported = false;
  for (Warp& warp : warps) warp.start();
  for (Lane& lane : lanes) lane.fiber = nullptr;
}

std::string Block::describe_waiting() const {
  struct Group {
    unsigned count = 0, first = 0;
  };
  std::map<std::string, Group> groups;
  for (const Lane& lane : lanes) {
    const Warp& warp = *lane.warp;
    std::string place;
    if (warp.in_collective & lane.bit()) {
      char mask[16];
      std::snprintf(mask, sizeof mask, "%08x", lane.mask);
      place = "in a warp collective with mask " + std::string(mask);
    } else if (warp.at_barrier & lane.bit())
      place = "at a block barrier";
    else if (warp.at_cluster_barrier & lane.bit())
      place = "at a cluster barrier";
    else if (warp.at_mbarrier & lane.bit())
      place = "for an mbarrier";
    else
      continue;
    Group& group = groups[place + ", " + to_string(lane.site)];
    if (!group.count++) group.first = lane.index;
  }
  std::string text;
  for (const auto& [place, group] : groups) {
    if (!text.empty()) text += "; ";
    text += std::to_string(group.count) + (group.count == 1 ? " thread waits " : " threads wait ") + place +
            " (first: thread " + std::to_string(group.first) + ")";
  }
  if (threads != live) text += "; " + std::to_string(threads - live) + " returned";
  return text;
}

std::string to_string(const Site& site) {
  const char* slash = std::strrchr(site.file_name(), '/');
  return std::string(slash ? slash + 1 : site.file_name()) + ":" + std::to_string(site.line());
}

}  // namespace upsweep::simt

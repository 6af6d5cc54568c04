// The group's call of any primitive. A program that uses it links every ladder.
#include "multi/group_call.h"

namespace upsweep {
namespace {

multi::Algorithm algorithm_of(std::string_view primitive) {
  static constexpr struct {
    std::string_view primitive;
    multi::Algorithm run;
  } all[] = {{"reduce", &multi::reduce},
             {"scan", &multi::scan},
             {"segmented_scan", &multi::segmented_scan},
             {"histogram", &multi::histogram},
             {"select", &multi::select},
             {"partition", &multi::partition},
             {"sort", &multi::sort}};
  for (const auto& one : all)
    if (one.primitive == primitive) return one.run;
  throw Error(Code::unsupported, std::string(primitive) + " has no call of a group");
}

}  // namespace

void invoke(Group& group, std::span<const Request> requests, const Options& options) {
  if (requests.empty() || !requests[0].contract) throw Error(Code::invalid_argument, "invoke: there is no contract");
  multi::run(group, algorithm_of(requests[0].contract->name), requests, options);
}

}  // namespace upsweep

// The group's call of any primitive. A program that uses it links every ladder.
#include "multi/group_call.h"

namespace upsweep {
namespace {

struct NamedAlgorithm {
  std::string_view primitive;
  multi::Algorithm run;
};
constexpr NamedAlgorithm algorithms[] = {
#define ALGORITHM(name) {#name, &multi::name},
#include "group_algorithms.inc"
#undef ALGORITHM
    {{}, nullptr}};

multi::Algorithm algorithm_of(std::string_view primitive) {
  for (const NamedAlgorithm& one : algorithms)
    if (one.primitive == primitive) return one.run;
  return nullptr;
}

}  // namespace

void invoke(Group& group, std::span<const Request> requests, const Options& options) {
  if (requests.empty() || !requests[0].contract) throw Error(Code::invalid_argument, "invoke: there is no contract");
  const std::string_view primitive = requests[0].contract->name;
  const multi::Algorithm algorithm = algorithm_of(primitive);
  if (!algorithm) throw Error(Code::unsupported, std::string(primitive) + " has no call of a group");
  multi::run(group, algorithm, requests, options);
}

bool multi::has_algorithm(std::string_view primitive) { return algorithm_of(primitive) != nullptr; }

}  // namespace upsweep

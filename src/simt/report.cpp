#include "simt/report.h"

#include <algorithm>

namespace upsweep::simt {

Counters& Counters::operator+=(const Counters& o) {
  global_load_requests += o.global_load_requests;
  global_load_sectors += o.global_load_sectors;
  global_load_ideal += o.global_load_ideal;
  global_store_requests += o.global_store_requests;
  global_store_sectors += o.global_store_sectors;
  global_store_ideal += o.global_store_ideal;
  shared_load_requests += o.shared_load_requests;
  shared_load_wavefronts += o.shared_load_wavefronts;
  shared_load_ideal += o.shared_load_ideal;
  shared_store_requests += o.shared_store_requests;
  shared_store_wavefronts += o.shared_store_wavefronts;
  shared_store_ideal += o.shared_store_ideal;
  global_atomic_requests += o.global_atomic_requests;
  global_atomic_serial += o.global_atomic_serial;
  global_atomic_worst = std::max(global_atomic_worst, o.global_atomic_worst);
  shared_atomic_requests += o.shared_atomic_requests;
  shared_atomic_serial += o.shared_atomic_serial;
  shared_atomic_worst = std::max(shared_atomic_worst, o.shared_atomic_worst);
  barriers += o.barriers;
  warp_syncs += o.warp_syncs;
  shuffles += o.shuffles;
  branches += o.branches;
  branch_lanes += o.branch_lanes;
  divergent_branches += o.divergent_branches;
  bulk_copies += o.bulk_copies;
  bulk_bytes += o.bulk_bytes;
  return *this;
}

Counters Report::total() const {
  Counters sum;
  for (const KernelReport& kernel : kernels) sum += kernel.counters;
  return sum;
}

}  // namespace upsweep::simt

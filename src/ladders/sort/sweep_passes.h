// A sort in passes that each read and write keys and values once, by tiles of two kinds. Each is compiled once, in the
// unit of the rung that adds it.
#pragma once
#include "ladders/sort/contract.h"

namespace upsweep::ladders::sort {

template <class K, bool is_float>
struct Sweep;

// What may finish a sort after a pass by the highest digit.
template <class Order>
struct BucketSort {
  unsigned most;  // keys of a bucket; if one has more, the passes go on
  Status (*start)(const KeyArgs<Order>&, const Sweep<typename Order::Key, Order::merges>&);
};

// By tiles whose keys are ranked by ballots: ballot_passes.cuh, of onesweep_8bit. Any keys and values.
template <class Order>
Status ballot_passes(const KeyArgs<Order>& a, const BucketSort<Order>* bucket_sort = nullptr);

// By tiles whose keys are ranked by bytes of a lane's own: lane_passes.cuh, of lane_sweep.
template <class Order>
Status lane_passes(const KeyArgs<Order>& a, const BucketSort<Order>* bucket_sort = nullptr);

}  // namespace upsweep::ladders::sort

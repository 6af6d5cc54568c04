// rotate: out[i] = in[(i + by) % n].
#pragma once
#include "upsweep/buffer.h"
#include "upsweep/invoke.h"
#include "upsweep/parameters/rotate.h"

namespace upsweep {

extern const Contract rotate_contract;

template <InputArray In, OutputOf<input_element<In>> Out>
void rotate(Device& device, const In& in, Out&& out, const Rotation& rotation = {}, const Options& options = {}) {
  invoke(
      device,
      {.contract = &rotate_contract, .in = {view(in)}, .out = {view(out)}, .scalars = rotate_scalars.scalars(rotation)},
      options);
}

}  // namespace upsweep

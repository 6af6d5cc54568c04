// The platforms linked into this program, by name.
#pragma once
#include <vector>

#include "base/platform.h"
#include "simt/report.h"

namespace upsweep::lab {

// Returns the platform of a backend; for simt, the plain emulator. Throws Error(no_device), with the reason, if the
// program was built without that backend or finds no device.
Platform& open_platform(Backend backend);

// Return the emulators: the plain one is fast, the traced one counts and checks every access. Throw Error(no_device) if
// the program was built without emulators.
simt::Emulator& open_plain();
simt::Emulator& open_traced();

// Returns a backend's peers, for all primitives.
Rungs peers_of(Backend backend);
// Returns the platform's rungs, for all primitives, followed by the peers of its backend.
std::vector<const Rung*> rungs_and_peers(Platform& platform);

// Returns every backend for which open_platform() succeeds.
std::vector<Backend> present_backends();

}  // namespace upsweep::lab

// The platforms linked into this program, by name.
#pragma once
#include <vector>

#include "base/platform.h"
#include "simt/report.h"

namespace upsweep::lab {

// Returns the platform of a backend; for simt, the plain emulator. Throws Error(no_device), with the reason, if the
// program was built without it or no device is found.
Platform& open_platform(Backend backend);

// The emulators: plain (fast), and traced (counts and checks every access). Throw Error(no_device) if they are not
// linked in.
simt::Emulator& open_plain();
simt::Emulator& open_traced();

// peers_of(): a backend's peers for every primitive. rungs_and_peers(): the platform's rungs, then the peers.
Rungs peers_of(Backend backend);
std::vector<const Rung*> rungs_and_peers(Platform& platform);

// Every backend for which open_platform() succeeds.
std::vector<Backend> present_backends();

}  // namespace upsweep::lab

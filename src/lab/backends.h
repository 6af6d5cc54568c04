// The platforms that this program was linked with, by name.
#pragma once
#include <vector>

#include "base/platform.h"
#include "simt/report.h"

namespace upsweep::lab {

// Returns the platform of a backend; for simt, the plain emulator. Throws Error(no_device), with the reason, if the
// program was built without it or finds none.
Platform& open_platform(Backend backend);

// The emulators: plain (fast), and traced (counts and checks every access). Throw Error(no_device) if the program does
// not contain them.
simt::Emulator& open_plain();
simt::Emulator& open_traced();

// The peers of a backend, for every primitive; and the platform's own rungs followed by the peers.
Rungs peers_of(Backend backend);
std::vector<const Rung*> rungs_and_peers(Platform& platform);

// Every backend that open_platform() would open.
std::vector<Backend> present_backends();

}  // namespace upsweep::lab

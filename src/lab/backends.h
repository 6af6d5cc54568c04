// The platforms that this program was linked with, by name.
#pragma once
#include <vector>

#include "base/platform.h"
#include "simt/report.h"

namespace upsweep::lab {

// The platform of a backend; for simt, the plain emulator. Throws Error(no_device), with the reason, when the program
// was built without it or finds none.
Platform& open_platform(Backend backend);

// The emulators: the quick one, and the one that counts and checks every access. Throw Error(no_device) when they are
// not part of the program.
simt::Emulator& open_plain();
simt::Emulator& open_traced();

// Every backend that open_platform() would open.
std::vector<Backend> present_backends();

}  // namespace upsweep::lab

// Headers common to all kernel units, precompiled for the emulators. Units still include the headers that they need,
// because nvcc does not use this file.
#include <algorithm>
#include <bit>
#include <cstring>

#include "base/typed_rung.h"
#include "kernel/host.h"

// The headers of all kernel units, which the emulators precompile. A unit includes what it needs all the same: nvcc
// knows nothing of this file.
#include <algorithm>
#include <bit>
#include <cstring>

#include "base/typed_rung.h"
#include "kernel/host.h"

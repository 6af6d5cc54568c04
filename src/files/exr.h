// Images of floats as OpenEXR.
#pragma once
#include "files/image.h"

namespace upsweep {

// Writes 32-bit channels R, G and B, and W for a fourth channel, losslessly compressed. Throws Error(io_error) or
// Error(interrupted).
void write_exr(OutputFile& file, const FloatImage& image);

}  // namespace upsweep

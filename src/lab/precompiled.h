// The headers that most files of the laboratory include, parsed once. No file relies on this one: each includes what it
// uses.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/typed_rung.h"
#include "lab/primitive.h"

// The headers that most of the library includes, parsed once. Nothing relies on this file: every other file includes
// what it uses.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "base/contract.h"
#include "base/typed_rung.h"
#include "cpu/parallel.h"

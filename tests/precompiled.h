// The headers that most tests include, parsed once. Nothing relies on it: every file includes what it uses.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "cpu_rungs.h"
#include "error_of.h"
#include "lab/check.h"
#include "lab/inputs.h"

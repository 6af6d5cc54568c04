// The binding of kernel rungs: what binding.h leaves to where a rung runs.
#pragma once
#include "kernel/each.h"
#include "ladders/histogram/binding.h"

// The binding of kernel rungs: binding.h, with for_each_index() for the GPU.
#pragma once
#include "kernel/each.h"
#include "ladders/histogram/binding.h"

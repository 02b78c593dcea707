// What this build and this machine offer, for people who choose and report.
#pragma once

#include "heed/executor.hpp"

namespace heed {

/// Name and vector width (in floats) of the kernels that attention() runs here.
const char* kernel_name();
int kernel_lanes();

/// An executor that computes everything on the thread that asks.
Executor& calling_thread();

}  // namespace heed

// The kernels of stored weights as operations call them.
#pragma once

#include "kernels/narrow/narrow_tasks.hpp"

#include "kernels/instances/narrow.hpp"

#include "kernels/narrow/narrow_gemm.hpp"

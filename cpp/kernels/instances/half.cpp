#include "kernels/instances/narrow.hpp"

#include "kernels/narrow/half_gemm.hpp"

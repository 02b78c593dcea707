#include "kernels/instances/layers.hpp"

#include "kernels/gemm/packed_gemm.hpp"
#include "kernels/layers/gru_step.hpp"
#include "kernels/layers/norm.hpp"
#include "kernels/layers/pointwise.hpp"

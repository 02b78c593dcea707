#include "kernels/instances/training.hpp"

#include "kernels/gemm/strided_gemm.hpp"
#include "kernels/layers/gru_step_backward.hpp"
#include "kernels/layers/losses.hpp"
#include "kernels/layers/norm_backward.hpp"
#include "kernels/layers/optimizers.hpp"
#include "kernels/layers/pointwise_backward.hpp"

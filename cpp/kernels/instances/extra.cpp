#include "kernels/instances/extra.hpp"

#include "kernels/layers/rope.hpp"
#include "kernels/linear/linear_attention.hpp"

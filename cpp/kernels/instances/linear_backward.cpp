#include "kernels/instances/linear_backward.hpp"

#include "kernels/linear/linear_backward.hpp"

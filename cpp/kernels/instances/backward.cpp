#include "kernels/instances/backward.hpp"

#include "kernels/backward/attend_backward.hpp"
#include "kernels/backward/find_deltas.hpp"
#include "kernels/backward/query_gradients.hpp"
#include "kernels/backward/score_parameters.hpp"

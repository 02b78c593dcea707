#include "kernels/instances/attention.hpp"

#include "kernels/decode/attend_split.hpp"
#include "kernels/decode/combine_splits.hpp"
#include "kernels/decode/mean_weights.hpp"
#include "kernels/prefill/attend.hpp"
#include "kernels/prefill/mean_weights.hpp"
#include "kernels/prefill/project.hpp"
#include "kernels/score/inverse_lengths.hpp"

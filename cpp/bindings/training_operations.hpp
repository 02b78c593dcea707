// The operations of the training module beside those of the full one, likewise. Their numbers come after the program's.
#pragma once

#include <tuple>

#include "operations/attention/attention_vjp_call.hpp"
#include "operations/training/combine.hpp"
#include "operations/training/elementwise.hpp"
#include "operations/training/gru_backward.hpp"
#include "operations/training/linear_vjp.hpp"
#include "operations/training/losses.hpp"
#include "operations/training/move.hpp"
#include "operations/training/norm_backward.hpp"
#include "operations/training/optimizers.hpp"
#include "operations/training/pointwise_backward.hpp"
#include "operations/training/product.hpp"
#include "operations/training/row_sums.hpp"
#include "operations/training/scatter_add.hpp"
#include "operations/training/softmax.hpp"

namespace heed {

/// Backward passes of attention, linear attention and layers, losses and steps of optimizers, and the small operations
/// of a pass.
using TrainingOperations =
    std::tuple<AttentionVjpCall, ProductCall, RowSumsCall, PointwiseBackwardCall, NormBackwardCall, ScatterAddCall,
               GruBackwardCall, CombineCall, SquareSumCall, CrossEntropyCall, ElementLossCall, AdamCall, SgdCall,
               LinearVjpCall, ElementwiseCall, DropoutCall, MoveCall, JoinCall, SoftmaxCall>;

}  // namespace heed

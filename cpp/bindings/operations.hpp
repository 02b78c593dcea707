// The operations, a line each. An operation's number is its place here. The build prints it for TypeScript, with the
// fields of its call: AffineCall becomes OPERATION.affine and AFFINE_CALL.
#pragma once

#include <tuple>

#include "operations/affine.hpp"
#include "operations/append.hpp"
#include "operations/attention/attention_call.hpp"
#include "operations/gather.hpp"
#include "operations/gru.hpp"
#include "operations/linear_attention.hpp"
#include "operations/norm.hpp"
#include "operations/pack.hpp"
#include "operations/pointwise.hpp"
#include "operations/rope.hpp"

namespace heed {

/// Each has a function run(call, executor, stop), or run(call, executor) if it is run as it lies in the heap.
using Operations = std::tuple<AttentionCall,  // the first, so that its calls need not write a number
                              AppendCall,     // keys and values to the pages of a KV cache
                              RopeCall,       // rotary embedding
                              LinearCall,     // linear attention
                              PackCall,       // the matrices of linear layers, for affine and gru
                              AffineCall,     // a linear layer
                              PointwiseCall,  // bias, activation, factor, addend
                              NormCall,       // LayerNorm, RMSNorm
                              GatherCall,     // an embedding
                              GruCall         // a gated recurrent unit
                              >;

}  // namespace heed

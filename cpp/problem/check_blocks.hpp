// The rules of a block-sparse structure.
#pragma once

#include "problem/attention_problem.hpp"

namespace heed {

/// Checks the blocks and turns `keep` into a view of all blocks of the whole, with strides of 0 where it repeats.
Status broadcast_blocks(const SliceOf& whole, Index key_length, SparseBlocks& blocks);

}  // namespace heed

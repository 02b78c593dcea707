#include "problem/attention_checks.hpp"

#include "heed/rounding.hpp"
#include "problem/check_views.hpp"
#include "problem/failures.hpp"

namespace heed {
namespace {

constexpr ViewRules kRules{"attention"};

}  // namespace

Status broadcast_blocks(const SliceOf& whole, Index key_length, SparseBlocks& blocks) {
  if (!blocks.keep.is_present()) return {};
  if (blocks.queries < 1 || blocks.keys < 1) {
    return broken(StatusCode::option, {"blocks.size must be two whole numbers, 1 or more, got ", blocks.queries,
                                       " queries and ", blocks.keys, " keys"});
  }
  if (Status status = kRules.check_sizes("blocks.keep", blocks.keep); !status.is_ok()) return status;
  const Shape given = blocks.keep.shape;
  const Shape full{whole.batch, whole.query_heads, divide_up(whole.query_length, blocks.queries),
                   divide_up(key_length, blocks.keys)};
  for (std::size_t axis = 0; axis < full.size(); ++axis) {
    if (given[axis] == full[axis]) continue;
    if (given[axis] != 1) {
      return broken(StatusCode::shape, {"blocks.keep must broadcast to ", full, ", got ", given});
    }
    blocks.keep.strides[axis] = 0;
  }
  blocks.keep.shape = full;
  return {};
}

}  // namespace heed

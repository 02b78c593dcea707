#include "problem/attention_checks.hpp"

#include "problem/failures.hpp"

namespace heed {
namespace {

/// Whether [first, first + count) lies within `whole`.
Status check_axis(const char* axis, Index first, Index count, Index whole) {
  if (first >= 0 && first <= whole && count <= whole - first) return {};
  return broken(StatusCode::option,
                {"a slice must lie within its whole, got ", count, " ", axis, " from ", first, " of ", whole});
}

}  // namespace

Status check_slice(const SliceOf& whole, const AttentionInputs& inputs, const AttentionOutputs& outputs) {
  const Shape& q = inputs.query.shape;
  Status status = first_failure({check_axis("batch entries", whole.first_batch, q[0], whole.batch),
                                 check_axis("heads", whole.first_head, q[1], whole.query_heads),
                                 check_axis("queries", whole.first_query, q[2], whole.query_length)});
  if (!status.is_ok()) return status;

  const Index heads_per_group = q[1] / inputs.key.shape[1];
  if (whole.first_head % heads_per_group != 0 || whole.query_heads % heads_per_group != 0) {
    return broken(StatusCode::option, {"a slice must hold all ", heads_per_group, " query heads of its keys, got ",
                                       q[1], " from ", whole.first_head});
  }
  if (outputs.mean_weights.is_present() && q[1] != whole.query_heads) {
    return broken(StatusCode::option,
                  {"a slice with the mean of the weights must hold all ", whole.query_heads, " heads, got ", q[1]});
  }
  return {};
}

}  // namespace heed

#include "ops/describe.hpp"

#include <limits>

#include "kernels/dropout_hash.hpp"
#include "problem/key_range.hpp"

namespace heed {
namespace {

kernels::Numbers numbers_at(const FloatView& view, Index batch, Index head, Index row) {
  return {view.at(batch, head, row), precision_of(view)};
}

}  // namespace

kernels::Precision precision_of(const FloatView& view) {
  return view.dtype == DType::f16 ? kernels::Precision::half : kernels::Precision::single;
}

kernels::AttentionRow describe_query(const AttentionProblem& problem, Index batch, Index head, Index query) {
  const AttentionOptions& options = problem.options;
  const SliceOf& whole = problem.whole;
  const Index head_of_whole = whole.first_head + head;
  const KeyRange keys = visible_keys(problem, batch, query);
  kernels::AttentionRow row{};
  row.query = numbers_at(problem.inputs.query, batch, head, query);
  row.mask = problem.inputs.mask.at(batch, head, query);
  row.bias = problem.inputs.bias.at(batch, head, query);
  row.position = static_cast<float>(position_of(problem, batch, query));
  row.alibi_slope = options.alibi_slopes == nullptr ? 0.0F : options.alibi_slopes[head_of_whole];
  row.sink = options.sinks == nullptr ? -std::numeric_limits<float>::infinity() : options.sinks[head_of_whole];
  if (problem.dropout.is_on) {
    const Index number = ((whole.first_batch + batch) * whole.query_heads + head_of_whole) * whole.query_length +
                         whole.first_query + query;
    row.dropout_stream = kernels::dropout_stream(problem.dropout.seed, static_cast<std::uint32_t>(number));
  }
  row.key_begin = static_cast<std::int32_t>(keys.begin);
  row.key_end = static_cast<std::int32_t>(keys.end);
  return row;
}

kernels::AttentionBlock describe_block(const AttentionProblem& problem, const AttentionPlan& plan, Index batch,
                                       Index kv_head) {
  const AttentionInputs& in = problem.inputs;
  return {
      .rows = nullptr,
      .row_count = 0,
      .key = numbers_at(in.key, batch, kv_head, 0),
      .key_stride = static_cast<std::ptrdiff_t>(in.key.strides[2]),
      .value = numbers_at(in.value, batch, kv_head, 0),
      .value_stride = static_cast<std::ptrdiff_t>(in.value.strides[2]),
      .mask_stride = static_cast<std::ptrdiff_t>(in.mask.strides[3]),
      .bias_stride = static_cast<std::ptrdiff_t>(in.bias.strides[3]),
      .key_length = static_cast<int>(problem.key_length),
      .addend_length = static_cast<int>(problem.key_limit),
      .head_dim = static_cast<int>(problem.head_dim),
      .value_dim = static_cast<int>(problem.value_dim),
      .key_block = plan.key_block,
      .scale = problem.scale,
      .softcap = problem.softcap,
      .has_alibi = problem.options.alibi_slopes != nullptr,
      .score_stage = static_cast<kernels::ScoreStage>(problem.outputs.score_stage),
      .has_dropout = problem.dropout.is_on,
      .dropout_limit = problem.dropout.limit,
      .dropout_factor = problem.dropout.factor,
      .scratch = nullptr,
  };
}

}  // namespace heed

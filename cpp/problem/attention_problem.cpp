#include "problem/attention_problem.hpp"

#include <algorithm>
#include <cmath>

#include "problem/attention_checks.hpp"
#include "problem/check_expressions.hpp"
#include "problem/check_views.hpp"

namespace heed {
namespace {

constexpr ViewRules kRules{"attention"};

Status check_operands(const AttentionInputs& in, bool may_differ_in_dim) {
  const auto query_and_key = [&in](const char* rule) {
    return broken(StatusCode::shape, {rule, ", got query ", in.query.shape, " key ", in.key.shape});
  };
  const auto key_and_value = [&in](const char* rule) {
    return broken(StatusCode::shape, {rule, ", got key ", in.key.shape, " value ", in.value.shape});
  };
  if (in.query.shape[0] != in.key.shape[0]) {
    return query_and_key("query and key batches must match");
  }
  if (in.query.shape[3] != in.key.shape[3] && !may_differ_in_dim) {
    return query_and_key("query and key head_dim must match");
  }
  if (in.query.shape[3] == 0 || in.key.shape[3] == 0) {
    return query_and_key("head_dim must be at least 1");
  }
  if (in.query.shape[1] == 0 || in.key.shape[1] == 0) {
    return query_and_key("there must be at least one head");
  }
  if (in.query.shape[1] % in.key.shape[1] != 0) {
    return query_and_key("query heads must be a multiple of key and value heads");
  }
  if (in.key.shape[0] != in.value.shape[0]) {
    return key_and_value("key and value batches must match");
  }
  if (in.key.shape[1] != in.value.shape[1]) {
    return key_and_value("key and value heads must match");
  }
  if (in.key.shape[2] != in.value.shape[2]) {
    return key_and_value("key and value lengths must match");
  }
  if (in.value.shape[3] == 0) {
    return broken(StatusCode::shape, {"value_dim must be at least 1, got value ", in.value.shape});
  }
  return {};
}

/// Whether int8 lies in pages, in whole tiles.
bool are_tiles(const FloatView& view, DType bytes, Index numbers) {
  const Index width = view.strides[2];
  return view.dtype == bytes && view.pages.table != nullptr && width >= view.shape[3] && width % numbers == 0;
}

/// int8 lies in pages alone, and K and V share theirs.
Status check_pages(const AttentionInputs& in) {
  const bool have_int8 = is_int8(in.key.dtype) || is_int8(in.value.dtype);
  const bool are_right = are_tiles(in.key, DType::i8_keys, 2) && are_tiles(in.value, DType::i8_values, 16);
  if (in.query.pages.table != nullptr || is_int8(in.query.dtype) || (have_int8 && !are_right)) {
    return broken(StatusCode::option, {"only keys and values lie in pages, and eight bits only there, in tiles"});
  }
  const Pages& key = in.key.pages;
  const Pages& value = in.value.pages;
  if (key.table != value.table || key.per_batch != value.per_batch || key.rows != value.rows ||
      key.first != value.first) {
    return broken(StatusCode::option, {"keys and values must lie in the same pages"});
  }
  if (key.table == nullptr) return {};
  if (key.rows >= 1 && key.first >= 0 && key.first + in.key.shape[2] <= key.per_batch * key.rows) return {};
  return broken(StatusCode::option, {"the pages of keys and values must hold rows [", key.first, ", ",
                                     key.first + in.key.shape[2], "), got ", key.per_batch, " pages of ", key.rows});
}

/// Turns a broadcastable view into one of the full shape, with strides of 0
/// where it repeats, and lowers `key_limit` to its length when it is shorter.
template <typename T>
Status broadcast(const char* name, const Shape& full, TensorView<T>& view, Index& key_limit) {
  const Shape given = view.shape;
  for (int axis = 0; axis < 4; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    const bool is_shorter_keys = axis == 3 && given[a] < full[a];
    if (given[a] == full[a]) continue;
    if (given[a] == 1) {
      view.strides[a] = 0;
    } else if (is_shorter_keys) {
      key_limit = std::min(key_limit, given[a]);
    } else {
      return broken(StatusCode::shape, {name, " must broadcast to ", full, ", got ", given});
    }
  }
  view.shape = full;
  return {};
}

Status check_weight_rows(const QueryRange& rows, Index queries) {
  if (rows.begin >= 0 && rows.begin < rows.end && rows.end <= queries) return {};
  if (rows.begin == 0 && rows.end == queries) return {};  // all of none
  return broken(StatusCode::option, {"the rows of weights must be at least one of ", queries, " queries, got [",
                                     rows.begin, ", ", rows.end, ")"});
}

Status check_outputs(const AttentionInputs& inputs, const AttentionOutputs& outputs, const QueryRange& weight_rows) {
  const Shape& q = inputs.query.shape;
  const Index keys = inputs.key.shape[2];
  return first_failure(
      {kRules.check_shape("output", outputs.output, {q[0], q[1], q[2], inputs.value.shape[3]}),
       check_weight_rows(weight_rows, q[2]),
       kRules.check_shape("weights", outputs.weights, {q[0], q[1], weight_rows.end - weight_rows.begin, keys}),
       kRules.check_shape("mean weights", outputs.mean_weights, {q[0], 1, q[2], keys}),
       kRules.check_shape("lse", outputs.log_sum_exp, {q[0], q[1], q[2], 1}),
       kRules.check_shape("scores", outputs.scores, {q[0], q[1], q[2], keys}),
       kRules.check_shape("entropy", outputs.entropy, {q[0], q[1], q[2], 1})});
}

/// Checks that sizes fit each other and that inputs have memory.
Status check_views(const AttentionInputs& inputs, const AttentionOutputs& outputs, bool has_matrices) {
  Status status = first_failure({kRules.check_sizes("query", inputs.query), kRules.check_sizes("key", inputs.key),
                                 kRules.check_sizes("value", inputs.value), kRules.check_sizes("mask", inputs.mask),
                                 kRules.check_sizes("bias", inputs.bias)});
  if (!status.is_ok()) return status;

  status = check_operands(inputs, has_matrices);
  if (status.is_ok()) status = check_pages(inputs);
  if (!status.is_ok()) return status;

  return first_failure({kRules.check_present("query", inputs.query), kRules.check_present("key", inputs.key),
                        kRules.check_present("value", inputs.value), kRules.check_contiguous("query", inputs.query),
                        kRules.check_contiguous("key", inputs.key), kRules.check_contiguous("value", inputs.value),
                        kRules.check_contiguous("output", outputs.output),
                        kRules.check_contiguous("weights", outputs.weights),
                        kRules.check_contiguous("scores", outputs.scores),
                        kRules.check_contiguous("mean weights", outputs.mean_weights)});
}

DropoutRule make_dropout_rule(const Dropout& dropout) {
  const auto p = static_cast<double>(dropout.p);
  const auto dropped = static_cast<std::uint64_t>(p * 0x1p32);  // of 2^32 random numbers
  if (dropped == 0) return {.is_on = false, .seed = 0, .limit = 0, .factor = 1.0F};
  // If dropout keeps nothing, 1 / (1 - p) is infinite, and infinity times zero would be NaN.
  const double factor = p < 1.0 ? 1.0 / (1.0 - p) : 0.0;
  return {.is_on = true,
          .seed = dropout.seed,
          .limit = static_cast<std::uint32_t>(dropped - 1),
          .factor = static_cast<float>(factor)};
}

/// Whether query heads that share keys need scores of their own all the same.
bool have_own_keys(const ScoreFunction& score) {
  const auto is_per_head = [](const TensorView<const float>& view) { return view.is_present() && view.shape[1] > 1; };
  if (score.kind == ScoreKind::gated) return is_per_head(score.w);
  return is_per_head(score.wk) || is_per_head(score.v);
}

/// The dimension of queries and keys after projections: for additive scores that of their matrices.
Index dim_of_scores(const ScoreFunction& score, const AttentionInputs& inputs) {
  if (score.kind != ScoreKind::additive) return inputs.key.shape[3];
  return score.wq.is_present() ? score.wq.shape[2] : inputs.query.shape[3];
}

/// Returns 0 where top-k keeps all keys anyway. A hard maximum chooses from a single key, too, whose weight is 1 then.
Index choose_top_k(const AttentionOptions& options, Index keys) {
  if (options.normalizer == Normalizer::hard) return 1;
  return options.top_k < keys ? options.top_k : 0;
}

float default_scale(ScoreKind kind, Index head_dim) {
  return kind == ScoreKind::scaled_dot ? 1.0F / std::sqrt(static_cast<float>(head_dim)) : 1.0F;
}

}  // namespace

Status make_attention_problem(const AttentionInputs& inputs, const AttentionOptions& options,
                              const AttentionOutputs& outputs, AttentionProblem& problem) {
  const Shape& q = inputs.query.shape;
  const Shape& k = inputs.key.shape;
  const Shape& v = inputs.value.shape;

  Status status = check_views(inputs, outputs, has_matrices(options.score));
  if (!status.is_ok()) return status;

  const QueryRange weight_rows = outputs.weight_rows.value_or(QueryRange{.begin = 0, .end = q[2]});
  status = check_outputs(inputs, outputs, weight_rows);
  if (!status.is_ok()) return status;

  const SliceOf whole = options.slice_of.value_or(SliceOf{
      .first_batch = 0, .first_head = 0, .first_query = 0, .batch = q[0], .query_heads = q[1], .query_length = q[2]});
  status = check_slice(whole, inputs, outputs);
  if (status.is_ok()) status = check_score(options.score, inputs, whole.query_heads);
  if (status.is_ok()) status = check_options(options, whole, k[2]);
  if (status.is_ok()) status = check_normalizer(options, outputs);
  if (status.is_ok()) status = check_expressions(options.expressions);
  if (!status.is_ok()) return status;

  problem = {};
  problem.batch = q[0];
  problem.query_heads = q[1];
  problem.kv_heads = k[1];
  problem.query_length = q[2];
  problem.key_length = k[2];
  problem.head_dim = dim_of_scores(options.score, inputs);
  problem.key_dtype = options.score.wk.is_present() ? DType::f32 : inputs.key.dtype;
  problem.value_dim = v[3];
  problem.whole = whole;
  problem.groups = have_own_keys(options.score) ? q[1] : k[1];
  problem.scale = options.scale.value_or(default_scale(options.score.kind, q[3]));
  problem.top_k = choose_top_k(options, k[2]);
  problem.key_limit = k[2];
  problem.options = options;
  problem.inputs = inputs;
  problem.weight_rows = weight_rows;
  problem.dropout = make_dropout_rule(options.dropout);
  problem.outputs = outputs;

  const Shape scores{q[0], q[1], q[2], k[2]};
  if (inputs.mask.is_present()) {
    status = broadcast("mask", scores, problem.inputs.mask, problem.key_limit);
    if (!status.is_ok()) return status;
  }
  if (inputs.bias.is_present()) {
    status = broadcast("bias", scores, problem.inputs.bias, problem.key_limit);
    if (!status.is_ok()) return status;
  }
  return broadcast_blocks(whole, k[2], problem.options.blocks);
}

}  // namespace heed

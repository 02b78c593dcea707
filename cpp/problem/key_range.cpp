#include "problem/key_range.hpp"

#include <algorithm>

namespace heed {
namespace {

// Beyond any position, and far from overflowing when added to one.
constexpr Index kOpen = Index{1} << 40;

Index length_or(const std::int32_t* lengths, Index batch, Index otherwise) {
  return lengths == nullptr ? otherwise : lengths[batch];
}

}  // namespace

Index position_of(const AttentionProblem& problem, Index batch, Index query) {
  const AttentionOptions& options = problem.options;
  if (options.query_offsets != nullptr) return query + options.query_offsets[batch];
  if (options.causal == Causal::upper_left) return query;
  return query + length_or(options.key_lengths, batch, problem.key_length) -
         length_or(options.query_lengths, batch, problem.query_length);
}

KeyRange visible_keys(const AttentionProblem& problem, Index batch, Index query) {
  const AttentionOptions& options = problem.options;
  if (query >= length_or(options.query_lengths, batch, problem.query_length)) return {.begin = 0, .end = 0};

  const Index limit = std::min(problem.key_limit, length_or(options.key_lengths, batch, problem.key_length));
  const Index position = position_of(problem, batch, query);
  const Index left = std::min(options.window.left.value_or(kOpen), kOpen);
  const Index right = options.causal == Causal::none ? std::min(options.window.right.value_or(kOpen), kOpen) : 0;
  const Index end = std::clamp<Index>(position + right + 1, 0, limit);
  return {.begin = std::clamp<Index>(position - left, 0, end), .end = end};
}

}  // namespace heed

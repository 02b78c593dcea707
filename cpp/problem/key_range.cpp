#include "problem/key_range.hpp"

#include <algorithm>

namespace heed {
namespace {

// Greater than any position, and far from overflowing when added to one.
constexpr Index kBeyond = Index{1} << 40;

Index reach(std::int32_t side) { return side == kOpen ? kBeyond : side; }

Index length_or(const std::int32_t* lengths, Index batch, Index otherwise) {
  return lengths == nullptr ? otherwise : lengths[batch];
}

/// The ranges of queries and keys that a query belongs to: those of its batch entry within the lengths given, or those
/// of its packed sequence. Here and below queries are counted in the whole call, of which the problem may be a slice.
struct Surroundings {
  Index first_query, end_query;
  Index first_key, end_key;
  Index index;  // among the offsets
};

Surroundings find_sequence(const PackedSequences& sequences, Index query) {
  const std::int32_t* const starts = sequences.query_starts;
  // The last sequence that starts at or before the query contains it: others that start there are empty.
  const Index index = std::upper_bound(starts, starts + sequences.count + 1, query) - starts - 1;
  return {.first_query = starts[index],
          .end_query = starts[index + 1],
          .first_key = sequences.keys()[index],
          .end_key = sequences.keys()[index + 1],
          .index = index};
}

Surroundings surroundings_of(const AttentionProblem& problem, Index batch, Index query) {
  const AttentionOptions& options = problem.options;
  if (options.sequences.are_given()) return find_sequence(options.sequences, query);
  return {.first_query = 0,
          .end_query = length_or(options.query_lengths, batch, problem.whole.query_length),
          .first_key = 0,
          .end_key = length_or(options.key_lengths, batch, problem.key_length),
          .index = batch};
}

Index find_position(const AttentionOptions& options, const Surroundings& around, Index query) {
  const Index upper_left = query - around.first_query + around.first_key;
  if (options.query_offsets != nullptr) return upper_left + options.query_offsets[around.index];
  if (options.causal == Causal::upper_left) return upper_left;
  return query - around.end_query + around.end_key;
}

}  // namespace

Index position_of(const AttentionProblem& problem, Index batch, Index query) {
  const SliceOf& whole = problem.whole;
  const Index number = whole.first_query + query;
  return find_position(problem.options, surroundings_of(problem, whole.first_batch + batch, number), number);
}

Index keys_of_entry(const AttentionProblem& problem, Index batch) {
  return length_or(problem.options.key_lengths, problem.whole.first_batch + batch, problem.key_length);
}

KeyRange visible_keys(const AttentionProblem& problem, Index batch, Index query) {
  const AttentionOptions& options = problem.options;
  const Index number = problem.whole.first_query + query;
  const Surroundings around = surroundings_of(problem, problem.whole.first_batch + batch, number);
  if (number >= around.end_query) return {.begin = 0, .end = 0};

  const Index limit = std::max(around.first_key, std::min(problem.key_limit, around.end_key));
  const Index position = find_position(options, around, number);
  const Index left = reach(options.window.left);
  const Index right = options.causal == Causal::none ? reach(options.window.right) : 0;
  const Index end = std::clamp(position + right + 1, around.first_key, limit);
  return {.begin = std::clamp(position - left, around.first_key, end), .end = end};
}

}  // namespace heed

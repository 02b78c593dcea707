// Runs attention and holds the results against the reference, within the error model's bounds.
#pragma once

#include <string>
#include <vector>

#include "attention_case.hpp"
#include "error_model.hpp"
#include "heed/machine.hpp"
#include "kernels/task/attention_task.hpp"
#include "reference/attention.hpp"

namespace heed::testing {

/// Which results to ask for besides output and log-sum-exp. Scores and weights keep kernels from passing over what
/// is masked, so what is wanted decides which paths they take.
struct Wanted {
  bool weights = true;
  bool entropy = true;  // where the normalizer has one
  std::optional<ScoreStage> scores = std::nullopt;
  bool log_sum_exp = true;  // likewise
};

/// Without what has no meaning for the options' normalizer.
Wanted fitting(Wanted wanted, const AttentionOptions& options);

/// In rows with padding between them, which no kernel may write.
struct Results {
  Wanted wanted;
  Owned<float> output, weights, log_sum_exp, scores, entropy;

  Results(const AttentionInputs& inputs, const Wanted& wanted = {});
  [[nodiscard]] AttentionOutputs outputs() const;
  /// Every number, padding included: to compare bits.
  [[nodiscard]] std::vector<std::uint32_t> bits() const;
  [[nodiscard]] bool is_padding_untouched() const;
};

/// On one thread unless told otherwise. Requires success.
Results run(const AttentionInputs& inputs, const AttentionOptions& options, const Wanted& wanted = {});
Results run(const AttentionInputs& inputs, const AttentionOptions& options, Executor& executor,
            const Wanted& wanted = {});

struct Expected {
  reference::AttentionResult result;
  std::vector<RowBounds> bounds;  // of each row, in the order of the result
};

Expected expect(const AttentionInputs& inputs, const AttentionOptions& options);

/// Largest error as a multiple of its bound; infinite where a number should be exact and is not, or is NaN.
struct Comparison {
  double output = 0.0;
  double weights = 0.0;
  double log_sum_exp = 0.0;
  double scores = 0.0;
  double entropy = 0.0;
  std::string where;  // the worst of all
  int lax_rows = 0;   // of which only the scores were compared, although their keys are apart

  [[nodiscard]] double worst() const;
};

Comparison compare(const Expected& expected, const Results& results);

/// Checks one case and reports how near it came.
void check_case(Random& random, const AttentionCase& one);
void check_tensors(const AttentionTensors& tensors);
/// As check_tensors, and the scores at every stage; and that what is not asked for changes nothing else.
void check_all_results(const AttentionTensors& tensors);
void check_all_results(Random& random, const AttentionCase& one);
/// Checks that so many workers, which run their tasks in another order, give the bits of one.
void check_workers(const AttentionTensors& tensors, std::initializer_list<int> numbers, const Wanted& wanted = {});

/// The scale that `options` ask for, in double precision as the reference has it.
double scale_of(const AttentionInputs& inputs, const AttentionOptions& options);

}  // namespace heed::testing

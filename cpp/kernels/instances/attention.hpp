// The kernels of attention as operations call them.
#pragma once

#include "kernels/gemm/projection_task.hpp"
#include "kernels/task/attention_task.hpp"

namespace heed::kernels {

void attend(const AttentionTask& task);
/// Attends a split of the keys: results[row][partial_floats], aligned as scratch memory is.
void attend_split(const AttentionTask& task, const KeySplit& split, float* results);
/// Combines the partial results of all splits, results[split][row], which it uses up, and writes the results of the
/// rows.
void combine_splits(const AttentionTask& task, int splits, float* results);
/// After attend(): adds the weights of every row, computed once more, to its mean_weights.
void add_mean_weights(const AttentionTask& task);
/// After attend_split() and combine_splits(): the same for a split of the keys.
void add_split_mean_weights(const AttentionTask& task, const KeySplit& split);
void project(const ProjectionTask& task);
/// target[0] = 1 / the length of source, for `count` rows; 0 where it is shorter than 2^-126.
void invert_lengths(const SourceRow* rows, int count, int dim);

}  // namespace heed::kernels

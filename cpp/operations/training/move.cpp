#include "operations/training/move.hpp"

#include <algorithm>

#include "operations/training/vectors.hpp"

namespace heed {
namespace {

constexpr RowRules kRules{"move"};
constexpr RowRules kJoinRules{"join"};

constexpr Index kMostAxes = 8;

struct Axis {
  std::int32_t size, step, begin, end;

  [[nodiscard]] bool has(Index index) const { return index >= begin && index < end; }
};

/// Checks that indices lead to numbers of the input alone.
Status check(const MoveCall& call, const Axis* axes) {
  const auto& [input, words, axis_count, start, first, output] = call;
  Status status =
      first_failure({kRules.check("input", input, 1, input.length), kRules.check("output", output, 1, output.length)});
  if (!status.is_ok()) return status;
  Index lowest = start, highest = start;
  bool is_empty = false;
  for (Index i = 0; i < axis_count; ++i) {
    const Axis& axis = axes[i];
    const bool is_inside = axis.size > 0 && axis.begin >= 0 && axis.end <= axis.size;
    if (!is_inside) return kRules.broken(StatusCode::shape, {"axis ", i, " must have an index, and ends among them"});
    is_empty = is_empty || axis.begin >= axis.end;
    const Index one = Index{axis.begin} * axis.step, other = (Index{axis.end} - 1) * axis.step;
    lowest += std::min(one, other);
    highest += std::max(one, other);
  }
  if (is_empty || (lowest >= 0 && highest < input.length)) return {};
  return kRules.broken(StatusCode::shape,
                       {"indices must lead to one of ", input.length, " numbers, got ", lowest, " to ", highest});
}

/// Numbers along the last axis.
void copy_along(const Axis& axis, const float* source, Index index, Index count, float* target) {
  const Index begin = std::clamp<Index>(axis.begin, index, index + count);
  const Index end = std::clamp<Index>(axis.end, begin, index + count);
  std::fill_n(target, begin - index, 0.0F);
  if (axis.step == 1) {
    std::copy_n(source + begin, end - begin, target + (begin - index));
  } else {
    for (Index i = begin; i < end; ++i) target[i - index] = source[i * axis.step];
  }
  std::fill_n(target + (end - index), index + count - end, 0.0F);
}

}  // namespace

Status run(const MoveCall& call, Executor& executor, const StopFlag* stop) {
  const auto& [input, words, axis_count, start, before, output] = call;
  const auto* const axes = reinterpret_cast<const Axis*>(words);
  if (axis_count < 1 || axis_count > kMostAxes) {
    return kRules.broken(StatusCode::shape, {"there must be 1 to ", kMostAxes, " axes, got ", axis_count});
  }
  if (Status status = check(call, axes); !status.is_ok() || output.length == 0) return status;
  return for_each_part(executor, {.length = output.length, .operation = kRules.operation, .stop = stop},
                       [&](Index first, int length) {
                         Index indices[kMostAxes];
                         Index rest = place_of(before) + first;
                         for (Index i = axis_count; i-- > 0;) {
                           indices[i] = rest % axes[i].size;
                           rest /= axes[i].size;
                         }
                         const Axis& last = axes[axis_count - 1];
                         Index& index = indices[axis_count - 1];
                         for (Index done = 0; done < length;) {
                           Index place = start;
                           bool has_number = last.begin < last.end;
                           for (Index i = 0; i + 1 < axis_count; ++i) {
                             place += indices[i] * axes[i].step;
                             has_number = has_number && axes[i].has(indices[i]);
                           }
                           const Index count = std::min(length - done, last.size - index);
                           float* const target = output.data + first + done;
                           if (has_number) {
                             copy_along(last, input.data + place, index, count, target);
                           } else {
                             std::fill_n(target, count, 0.0F);
                           }
                           done += count;
                           index = 0;
                           for (Index i = axis_count - 1; i-- > 0;) {
                             if (++indices[i] < axes[i].size) break;
                             indices[i] = 0;
                           }
                         }
                       });
}

Status run(const JoinCall& call, Executor& executor, const StopFlag* stop) {
  const Rows<const float> inputs[] = {call.a, call.b, call.c, call.d};
  const Rows<float>& output = call.output;
  Index length = 0;
  for (const Rows<const float>& input : inputs) {
    if (input.is_present()) length += input.length;
    const Status status = kJoinRules.check_if_present("an input", input, output.count, input.length);
    if (!status.is_ok()) return status;
  }
  const Status status = kJoinRules.check("output", output, output.count, length);
  if (!status.is_ok() || output.count == 0 || length == 0) return status;
  constexpr Index task_numbers = Index{1} << 14;
  const Index rows = std::max<Index>(1, task_numbers / length);
  const int workers = choose_workers(executor, static_cast<double>(output.count) * static_cast<double>(length));
  parallel_for(executor, {divide_up(output.count, rows), workers, stop}, [&](Index task, int /*worker*/) {
    const Index end = std::min(output.count, (task + 1) * rows);
    for (Index row = task * rows; row < end; ++row) {
      float* target = output.row(row);
      for (const Rows<const float>& input : inputs) {
        if (input.is_present()) target = std::copy_n(input.row(row), input.length, target);
      }
    }
  });
  return kJoinRules.end(stop);
}

}  // namespace heed

#include "kernels/expr/differentiate.hpp"

#include "kernels/expr/evaluate.hpp"

namespace heed::kernels {
namespace {

int floats_of(const FunctionInput& input) { return input.keys.lines() * kPanel; }

/// The register of the result, which holds until the next evaluation.
Register evaluate(const Expression& expression, const FunctionInput& input) {
  const Evaluation evaluation(expression, input.panel, input.task, input.keys, nullptr);
  if (expression.program->registers[2] > 0) {
    float* const taken = evaluation[kRewritten].numbers;
    for (int i = 0; i < floats_of(input); ++i) taken[i] = input.numbers[i];
  }
  evaluation.run();
  return evaluation.result();
}

/// The numbers of a register that belong to those of change_scores().
Batch load(const Register& from, int line, int vector) {
  return Batch::load_aligned(from.numbers + line * from.step + vector * kLanes);
}

/// Finds where in the table each pair reads. The numbers of a table are so few that floats count them.
void find_indices(const TableSlope& read, const FunctionInput& input, float* indices) {
  for (int i = 0; i < floats_of(input); ++i) indices[i] = 0.0F;
  for (int axis = 0; axis < read.table->axes; ++axis) {
    const Register found = evaluate(read.indices[axis], input);
    const std::int32_t size = read.table->sizes[axis];
    for (int line = 0; line < input.keys.lines(); ++line) {
      for (int lane = 0; lane < kPanel; ++lane) {
        float& index = indices[line * kPanel + lane];
        const std::int32_t along = nearest_inside(found.numbers[line * found.step + lane], size);
        index = index * static_cast<float>(size) + static_cast<float>(along);
      }
    }
  }
}

}  // namespace

void apply_function(const Expression& function, const FunctionInput& input, float* made) {
  const Register result = evaluate(function, input);
  change_scores(input.keys.lines(), made, [&](Batch, int line, int vector) { return load(result, line, vector); });
}

void multiply_by_slope(const Expression& slope, const FunctionInput& input, float* gradients) {
  const Register result = evaluate(slope, input);
  const Batch zero(0.0F);
  change_scores(input.keys.lines(), gradients, [&](Batch gradient, int line, int vector) {
    return xsimd::select(gradient == zero, zero, gradient * load(result, line, vector));
  });
}

void add_table_gradients(const TableSlope& read, const FunctionInput& input, const float* gradients, float* indices,
                         float* sums) {
  find_indices(read, input, indices);
  const Register slope = evaluate(read.slope, input);
  for (int line = 0; line < input.keys.lines(); ++line) {
    for (int lane = 0; lane < input.panel.row_count; ++lane) {
      const float gradient = gradients[line * kPanel + lane];
      if (gradient == 0.0F) continue;
      const auto index = static_cast<std::ptrdiff_t>(indices[line * kPanel + lane]);
      sums[read.target + index] += gradient * slope.numbers[line * slope.step + lane];
    }
  }
}

}  // namespace heed::kernels

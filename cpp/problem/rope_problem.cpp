#include "problem/rope_problem.hpp"

#include <cmath>

#include "problem/check_views.hpp"

namespace heed {
namespace {

constexpr ViewRules kRules{"rope"};

Status check_rotary_dim(Index rotary_dim, const Shape& input) {
  if (input[3] == 0) return kRules.broken(StatusCode::shape, {"head_dim must be at least 1, got ", input});
  if (rotary_dim >= 2 && rotary_dim <= input[3] && rotary_dim % 2 == 0) return {};
  return kRules.broken(StatusCode::option,
                       {"rotaryDim must be an even number from 2 to head_dim, got ", rotary_dim, " for ", input});
}

Status check_tables(const RopeProblem& problem) {
  const Shape& cosines = problem.inputs.cosines.shape;
  const Shape& sines = problem.inputs.sines.shape;
  if (problem.inputs.cosines.is_present() != problem.inputs.sines.is_present()) {
    return kRules.broken(StatusCode::option, {"cos and sin must be given together"});
  }
  const bool fits = cosines[0] == 1 || cosines[0] == problem.batch;
  if (cosines == sines && fits && cosines[1] == 1 && cosines[3] == problem.pairs) return {};
  return kRules.broken(StatusCode::shape,
                       {"cos and sin must have a row of ", problem.pairs,
                        " numbers, one a pair, for each position, got cos ", cosines, " sin ", sines});
}

Status check_rows(const RopeProblem& problem) {
  const auto rows = static_cast<double>(problem.inputs.cosines.shape[2]);
  for (Index b = 0; b < (problem.options.positions_by_batch ? problem.batch : 1); ++b) {
    for (Index l = 0; l < problem.length; ++l) {
      const double position = problem.position_of(b, l);
      if (position >= 0.0 && position < rows && position == std::floor(position)) continue;
      return kRules.broken(StatusCode::option, {"positions must be rows of cos and sin, which have ",
                                                problem.inputs.cosines.shape[2], ", place ", l, " has none"});
    }
  }
  return {};
}

Status check_finite(const char* name, const double* numbers, Index count) {
  for (Index i = 0; i < count && numbers != nullptr; ++i) {
    if (!std::isfinite(numbers[i])) {
      return kRules.broken(StatusCode::option, {name, " must be finite numbers, number ", i, " is not"});
    }
  }
  return {};
}

}  // namespace

Status make_rope_problem(const RopeInputs& inputs, const RopeOptions& options, const TensorView<float>& output,
                         RopeProblem& problem) {
  const Shape& shape = inputs.input.shape;
  const Index rotary_dim = options.rotary_dim == 0 ? shape[3] : options.rotary_dim;
  Status status =
      first_failure({kRules.check_sizes("input", inputs.input), kRules.check_sizes("cos", inputs.cosines),
                     kRules.check_sizes("sin", inputs.sines), check_rotary_dim(rotary_dim, shape),
                     kRules.check_present("input", inputs.input), kRules.check_contiguous("input", inputs.input),
                     kRules.check_contiguous("cos", inputs.cosines), kRules.check_contiguous("sin", inputs.sines),
                     kRules.check_shape("output", output, shape), kRules.check_contiguous("output", output)});
  if (!status.is_ok()) return status;

  problem = {.batch = shape[0],
             .heads = shape[1],
             .length = shape[2],
             .head_dim = shape[3],
             .pairs = rotary_dim / 2,
             .inputs = inputs,
             .options = options,
             .output = output};
  if (!std::isfinite(options.magnitude)) return kRules.broken(StatusCode::option, {"magnitude must be finite"});
  const Index places = problem.length * (options.positions_by_batch ? problem.batch : 1);
  status = first_failure({check_finite("positions", options.positions, places),
                          check_finite("frequencies", options.frequencies, problem.pairs)});
  if (!status.is_ok()) return status;
  if (inputs.cosines.is_present() || inputs.sines.is_present()) {
    status = check_tables(problem);
    return status.is_ok() ? check_rows(problem) : status;
  }
  if (options.frequencies != nullptr) return {};
  return kRules.broken(StatusCode::option, {"frequencies must be given where cos and sin are not"});
}

}  // namespace heed

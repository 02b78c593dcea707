#include "operations/rope.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

#include "heed/rounding.hpp"
#include "kernels/instances/extra.hpp"
#include "operations/common/parallel_for.hpp"
#include "operations/common/scratch.hpp"
#include "operations/common/view_rows.hpp"
#include "problem/check_views.hpp"

namespace heed {
namespace {

constexpr ViewRules kRules{"rope"};

/// A task has so many tokens and starts at a multiple of them: it computes the angles of consecutive positions from
/// each other, and the bits must be the same for any number of workers. A rotation by a step costs a fiftieth of a
/// sine, and loses 2^-53 each time.
constexpr Index kTokensPerTask = 64;

using Rotation = std::complex<double>;

/// A well-formed call, every default filled in.
struct RopeProblem {
  Index batch;
  Index heads;
  Index length;
  Index head_dim;
  Index pairs;

  RopeInputs inputs;
  RopeOptions options;
  TensorView<float> output;

  /// The position of a token of the input.
  [[nodiscard]] double position_of(Index b, Index l) const {
    if (options.positions == nullptr) return static_cast<double>(l);
    return options.positions[(options.positions_by_batch ? b * length : 0) + l];
  }
  [[nodiscard]] bool has_tables() const { return inputs.cosines.is_present(); }
};

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

/// Fills `problem`, or says which rule the call breaks.
Status make_rope_problem(const RopeInputs& inputs, const RopeOptions& options, const TensorView<float>& output,
                         RopeProblem& problem) {
  const Shape& shape = inputs.input.shape;
  const Index rotary_dim = options.rotary_dim == 0 ? shape[3] : options.rotary_dim;
  Status status =
      first_failure({kRules.check_floats("input", inputs.input), kRules.check_sizes("cos", inputs.cosines),
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

Index table_floats(const RopeProblem& problem) { return kernels::rope_table_floats(problem.pairs); }

/// The floats of two tables for the kernel, and of the rotations at a position and of a step.
Index scratch_floats(const RopeProblem& problem) {
  constexpr Index kFloatsPerRotation = sizeof(Rotation) / sizeof(float);
  return 2 * table_floats(problem) + round_up(2 * problem.pairs * kFloatsPerRotation, 16);
}

/// Computes the cosines and sines of consecutive positions.
class Rotations {
 public:
  Rotations(const RopeProblem& problem, Rotation* memory)
      : problem_(problem), now_(memory), step_(memory + problem.pairs), pairs_(problem.pairs) {}

  const Rotation* at(Index batch, Index token) {
    if (problem_.has_tables()) {
      look_up(batch, token);
      return now_;
    }
    const double position = problem_.position_of(batch, token);
    if (has_position_ && position == position_ + 1.0) {
      if (!has_step_) rotate_by(1.0, step_);
      has_step_ = true;
      for (Index i = 0; i < pairs_; ++i) now_[i] = multiply(now_[i], step_[i]);
    } else {
      rotate_by(position, now_);
    }
    has_position_ = true;
    position_ = position;
    return now_;
  }

 private:
  /// Multiplies complex numbers without the check for infinities that std::complex makes.
  static Rotation multiply(Rotation a, Rotation b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }

  void rotate_by(double positions, Rotation* rotations) const {
    for (Index i = 0; i < pairs_; ++i) {
      const double angle = positions * problem_.options.frequencies[i];
      rotations[i] = {std::cos(angle), std::sin(angle)};
    }
  }

  void look_up(Index batch, Index token) {
    const RopeInputs& in = problem_.inputs;
    const Index entry = in.cosines.shape[0] == 1 ? 0 : batch;
    const auto row = static_cast<Index>(problem_.position_of(batch, token));
    for (Index i = 0; i < pairs_; ++i) {
      now_[i] = {static_cast<double>(in.cosines.at(entry, 0, row)[i]),
                 static_cast<double>(in.sines.at(entry, 0, row)[i])};
    }
  }

  const RopeProblem& problem_;
  Rotation* now_;
  Rotation* step_;
  Index pairs_;
  double position_ = 0.0;
  bool has_position_ = false;
  bool has_step_ = false;
};

/// Fills the tables of a kernels::RopeTask.
void write_tables(const RopeOptions& options, const Rotation* rotations, Index pairs, float* cosines, float* sines) {
  const double magnitude = options.magnitude;
  for (Index i = 0; i < pairs; ++i) {
    const auto cosine = static_cast<float>(magnitude * rotations[i].real());
    const auto sine = static_cast<float>((options.inverse ? -magnitude : magnitude) * rotations[i].imag());
    if (options.interleaved) {
      cosines[2 * i] = cosines[2 * i + 1] = cosine;
      sines[2 * i] = -sine;
      sines[2 * i + 1] = sine;
    } else {
      cosines[i] = cosine;
      sines[i] = sine;
    }
  }
}

/// Rotates tokens [first, end) of a batch entry.
void run_task(const RopeProblem& problem, Index batch, Index first, Index end, float* scratch) {
  float* const cosines = scratch;
  float* const sines = cosines + table_floats(problem);
  // The kernel reads the ends of the tables by whole vectors, so they must be initialized.
  std::fill(cosines, sines + table_floats(problem), 0.0F);
  Rotations rotations(problem, reinterpret_cast<Rotation*>(sines + table_floats(problem)));

  for (Index token = first; token < end; ++token) {
    write_tables(problem.options, rotations.at(batch, token), problem.pairs, cosines, sines);
    kernels::rotate({.input = float_row(problem.inputs.input, batch, 0, token),
                     .input_stride = head_stride(problem.inputs.input),
                     .output = problem.output.at(batch, 0, token),
                     .output_stride = head_stride(problem.output),
                     .heads = static_cast<int>(problem.heads),
                     .head_dim = static_cast<int>(problem.head_dim),
                     .pairs = static_cast<int>(problem.pairs),
                     .interleaved = problem.options.interleaved,
                     .cosines = cosines,
                     .sines = sines});
  }
}

}  // namespace

Status rope(const RopeInputs& inputs, const RopeOptions& options, const TensorView<float>& output, Executor& executor) {
  RopeProblem problem{};
  if (Status status = make_rope_problem(inputs, options, output, problem); !status.is_ok()) return status;
  const Index tasks_per_entry = divide_up(problem.length, kTokensPerTask);
  const Index tasks = problem.batch * tasks_per_entry;
  if (tasks == 0 || problem.heads == 0 || !output.is_present()) return {};

  const double multiplications = 4.0 * static_cast<double>(problem.batch * problem.length * problem.pairs) *
                                 static_cast<double>(problem.heads + 1);
  const int workers = choose_workers(executor, multiplications);
  const Index per_worker = scratch_floats(problem);
  const Scratch scratch(per_worker * workers);
  if (!scratch.is_available()) return {StatusCode::memory, "rope: scratch memory must fit, could not get it"};
  parallel_for(executor, {tasks, workers, options.stop}, [&](Index task, int worker) {
    const Index first = task % tasks_per_entry * kTokensPerTask;
    run_task(problem, task / tasks_per_entry, first, std::min(first + kTokensPerTask, problem.length),
             scratch.data() + worker * per_worker);
  });
  if (is_set(options.stop)) return {StatusCode::aborted, "rope: stopped by its caller"};
  return {};
}

Status run(const RopeCall& call, Executor& executor) {
  return rope({.input = unpack(call.input, call.input_type),
               .cosines = unpack<const float>(call.cosines),
               .sines = unpack<const float>(call.sines)},
              {.rotary_dim = call.rotary_dim,
               .interleaved = call.interleaved != 0,
               .inverse = call.inverse != 0,
               .frequencies = pointer<const double>(call.frequencies),
               .positions = pointer<const double>(call.positions),
               .positions_by_batch = call.positions_by_batch != 0,
               .magnitude = call.magnitude,
               .stop = stop_of(call.header)},
              unpack<float>(call.output), executor);
}

}  // namespace heed

#include "heed/rope.hpp"

#include <cmath>
#include <complex>

#include "kernels/instances/instances.hpp"
#include "ops/extra_with.hpp"
#include "ops/numbers.hpp"
#include "ops/scratch.hpp"
#include "ops/worth_waking.hpp"
#include "problem/rope_problem.hpp"

namespace heed {
namespace {

/// Places of a task, always cut at its multiples: within a run, angles of positions that follow each other are made of
/// one another, and the same bits must come out for any number of workers. A rotation by a step costs a fiftieth of a
/// sine, and loses 2^-53 each time.
constexpr Index kRun = 64;

using Turn = std::complex<double>;

struct RopeJob {
  const RopeProblem& problem;
  const kernels::ExtraKernels& kernels;
  Index runs;  // of a batch entry
  float* scratch;
  Index scratch_per_worker;  // floats
};

Index table_floats(const RopeProblem& problem) { return kernels::rope_table_floats(problem.pairs); }

/// Two tables for the kernel, and the turns at a position and of a step.
Index scratch_floats(const RopeProblem& problem) {
  constexpr Index kFloatsPerTurn = sizeof(Turn) / sizeof(float);
  return 2 * table_floats(problem) + kernels::round_up_to(2 * problem.pairs * kFloatsPerTurn, 16);
}

/// The cosines and sines of one position after the other.
class Turns {
 public:
  Turns(const RopeProblem& problem, Turn* memory)
      : problem_(problem), now_(memory), step_(memory + problem.pairs), pairs_(problem.pairs) {}

  const Turn* at(Index batch, Index place) {
    if (problem_.has_tables()) {
      look_up(batch, place);
      return now_;
    }
    const double position = problem_.position_of(batch, place);
    if (has_position_ && position == position_ + 1.0) {
      if (!has_step_) turn_by(1.0, step_);
      has_step_ = true;
      for (Index i = 0; i < pairs_; ++i) now_[i] = multiply(now_[i], step_[i]);
    } else {
      turn_by(position, now_);
    }
    has_position_ = true;
    position_ = position;
    return now_;
  }

 private:
  /// Without the check for infinities that the operator makes.
  static Turn multiply(Turn a, Turn b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }

  void turn_by(double positions, Turn* turns) const {
    for (Index i = 0; i < pairs_; ++i) {
      const double angle = positions * problem_.options.frequencies[i];
      turns[i] = {std::cos(angle), std::sin(angle)};
    }
  }

  void look_up(Index batch, Index place) {
    const RopeInputs& in = problem_.inputs;
    const Index entry = in.cosines.shape[0] == 1 ? 0 : batch;
    const auto row = static_cast<Index>(problem_.position_of(batch, place));
    for (Index i = 0; i < pairs_; ++i) {
      now_[i] = {static_cast<double>(in.cosines.at(entry, 0, row)[i]),
                 static_cast<double>(in.sines.at(entry, 0, row)[i])};
    }
  }

  const RopeProblem& problem_;
  Turn* now_;
  Turn* step_;
  Index pairs_;
  double position_ = 0.0;
  bool has_position_ = false;
  bool has_step_ = false;
};

/// As the kernel wants them: see RopeBlock.
void write_tables(const RopeOptions& options, const Turn* turns, Index pairs, float* cosines, float* sines) {
  const double magnitude = options.magnitude;
  for (Index i = 0; i < pairs; ++i) {
    const auto cosine = static_cast<float>(magnitude * turns[i].real());
    const auto sine = static_cast<float>((options.inverse ? -magnitude : magnitude) * turns[i].imag());
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

void run_task(void* context, Index task, int worker) {
  const RopeJob& job = *static_cast<RopeJob*>(context);
  const RopeProblem& problem = job.problem;
  float* const cosines = job.scratch + worker * job.scratch_per_worker;
  float* const sines = cosines + table_floats(problem);
  // The ends of the tables are never part of a result, but must be numbers.
  std::fill(cosines, sines + table_floats(problem), 0.0F);
  Turns turns(problem, reinterpret_cast<Turn*>(sines + table_floats(problem)));

  const Index batch = task / job.runs;
  const Index first = task % job.runs * kRun;
  const Index end = std::min(first + kRun, problem.length);
  for (Index place = first; place < end; ++place) {
    write_tables(problem.options, turns.at(batch, place), problem.pairs, cosines, sines);
    job.kernels.rotate({.input = numbers_at(problem.inputs.input, batch, 0, place),
                        .input_stride = head_stride(problem.inputs.input),
                        .output = problem.output.at(batch, 0, place),
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

Status rope_with(const kernels::ExtraKernels& kernels, const RopeInputs& inputs, const RopeOptions& options,
                 const TensorView<float>& output, Executor& executor) {
  RopeProblem problem{};
  if (Status status = make_rope_problem(inputs, options, output, problem); !status.is_ok()) return status;
  const Index runs = (problem.length + kRun - 1) / kRun;
  const Index tasks = problem.batch * runs;
  if (tasks == 0 || problem.heads == 0 || !output.is_present()) return {};

  const double multiplications = 4.0 * static_cast<double>(problem.batch * problem.length * problem.pairs) *
                                 static_cast<double>(problem.heads + 1);
  const int workers = worth_waking(executor, multiplications);
  const Index per_worker = scratch_floats(problem);
  const Scratch scratch(per_worker * workers);
  if (!scratch.is_available()) return {StatusCode::memory, "rope: scratch memory must fit, could not get it"};
  RopeJob job{problem, kernels, runs, scratch.data(), per_worker};
  executor.run({run_task, &job, tasks, workers, options.stop});
  if (is_set(options.stop)) return {StatusCode::aborted, "rope: stopped by its caller"};
  return {};
}

Status rope(const RopeInputs& inputs, const RopeOptions& options, const TensorView<float>& output, Executor& executor) {
  return rope_with(*kernels::runnable_extra_kernels().front(), inputs, options, output, executor);
}

}  // namespace heed

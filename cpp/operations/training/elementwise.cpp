#include "operations/training/elementwise.hpp"

#include <algorithm>

#include "kernels/instances/training.hpp"
#include "kernels/softmax/dropout_hash.hpp"
#include "operations/training/vectors.hpp"

namespace heed {
namespace {

constexpr RowRules kRules{"elementwise"};
constexpr RowRules kDropoutRules{"dropout"};

/// Operands that a function takes.
int operands_of(Elementwise function) {
  if (function == Elementwise::select) return 3;
  return function <= Elementwise::equal ? 2 : 1;
}

/// The numbers of an operand from a place on, as far as they lie one behind the other.
struct Stretch {
  kernels::ElementwiseOperand operand;
  Index length;
};

Stretch stretch_at(const Rows<const float>& row, Index place, Index wanted) {
  if (!row.is_present()) return {{.numbers = nullptr, .is_one = false}, wanted};
  if (row.length == 1) return {{.numbers = row.data, .is_one = true}, wanted};
  const Index begin = place % row.length;
  return {{.numbers = row.data + begin, .is_one = false}, std::min(wanted, row.length - begin)};
}

}  // namespace

Status run(const ElementwiseCall& call, Executor& executor, const StopFlag* stop) {
  const auto& [x, y, z, function, begin, output] = call;
  if (function > Elementwise::sqrt) {
    return kRules.broken(StatusCode::option,
                         {"function must be one of those known, got ", static_cast<Index>(function)});
  }
  const Index length = output.length;
  const Status status = kRules.check("output", output, 1, length);
  if (!status.is_ok() || length == 0) return status;
  const Rows<const float> operands[] = {x, y, z};
  const int count = operands_of(function);
  for (int i = 0; i < count; ++i) {
    if (Status failed = kRules.check("an operand", operands[i], 1, std::max<Index>(1, operands[i].length));
        !failed.is_ok()) {
      return failed;
    }
  }
  const auto body = [&](Index first, int part) {
    for (Index done = 0; done < part;) {
      const Index place = place_of(begin) + first + done;
      Stretch stretches[3] = {};
      Index run = part - done;
      for (int i = 0; i < count; ++i) {
        // A shorter operand repeats by its place in the whole call; one of the output's length begins with it.
        const bool repeats = operands[i].length != length;
        stretches[i] = stretch_at(operands[i], repeats ? place : first + done, run);
        run = stretches[i].length;
      }
      kernels::elementwise({.x = stretches[0].operand,
                            .y = stretches[1].operand,
                            .z = stretches[2].operand,
                            .function = function,
                            .target = output.data + first + done,
                            .length = static_cast<int>(run)});
      done += run;
    }
  };
  return for_each_part(executor, {.length = length, .operation = kRules.operation, .stop = stop}, body);
}

Status run(const DropoutCall& call, Executor& executor, const StopFlag* stop) {
  const auto& [x, limit, factor, seed, begin, output] = call;
  const Status status =
      first_failure({kDropoutRules.check("x", x, 1, x.length), kDropoutRules.check("output", output, 1, x.length)});
  if (!status.is_ok()) return status;
  const std::uint32_t stream = kernels::dropout_stream(static_cast<std::uint32_t>(seed), 0);
  return for_each_part(
      executor, {.length = x.length, .operation = kDropoutRules.operation, .stop = stop}, [&](Index first, int length) {
        for (Index i = first; i < first + length; ++i) {
          const std::uint32_t key = kernels::dropout_key(static_cast<std::uint32_t>(begin + i));
          output.data[i] =
              kernels::mix_bits(stream ^ key) > static_cast<std::uint32_t>(limit) ? x.data[i] * factor : 0.0F;
        }
      });
}

}  // namespace heed

// Elementwise functions of up to three tensors, which a pass of one's own is made of.
#pragma once

#include "kernels/layers/training_tasks.hpp"
#include "operations/common/rows.hpp"

namespace heed {

using kernels::Elementwise;

/// output[i] = function(x[i], y[i], z[i]). Each is one row. An operand that is shorter than the output repeats, so that
/// one number is a scalar; one that the function does not take is absent.
struct ElementwiseCall {
  Rows<const float> x;
  Rows<const float> y = {};
  Rows<const float> z = {};
  Elementwise function = Elementwise::add;
  Index first = 0;  // the place of the first output in the whole call, for what repeats
  Rows<float> output;

  HEED_FIELDS(x, y, z, function, first, output)
};

/// Nothing may overlap. Fails without writing when an input breaks a rule.
Status run(const ElementwiseCall& call, Executor& executor, const StopFlag* stop = nullptr);

/// output[i] = factor * x[i], or 0 where the random number of place first + i is not above the limit. Its random
/// numbers are those of attention's dropout, for query 0 and that key.
struct DropoutCall {
  Rows<const float> x;
  std::int32_t limit = 0;  // of 32 bits, unsigned
  float factor = 1.0F;
  std::int32_t seed = 0;
  Index first = 0;
  Rows<float> output;

  HEED_FIELDS(x, limit, factor, seed, first, output)
};

/// Likewise.
Status run(const DropoutCall& call, Executor& executor, const StopFlag* stop = nullptr);

}  // namespace heed

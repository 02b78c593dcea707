// A pointwise rule over rows.
#pragma once

#include "operations/common/pointwise_rule.hpp"

namespace heed {

struct PointwiseCall {
  Rows<const float> input;
  Pointwise rule = {};
  Rows<float> output;

  HEED_FIELDS(input, rule, output)
};

/// Applies the rule to every row of `input`, which may be `output` itself; nothing else may overlap. Fails without
/// writing when an input breaks a rule.
Status run(const PointwiseCall& call, Executor& executor, const StopFlag* stop = nullptr);

}  // namespace heed

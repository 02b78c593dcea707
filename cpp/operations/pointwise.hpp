// A pointwise rule over rows.
#pragma once

#include "operations/common/pointwise_rule.hpp"

namespace heed {

/// Applies the rule to every row of `input`, which may be `output` itself; nothing else may overlap. Fails without
/// writing when an input breaks a rule.
Status pointwise(const Rows<const float>& input, const Pointwise& rule, const Rows<float>& output, Executor& executor,
                 const StopFlag* stop = nullptr);

struct PointwiseCall {
  CallHeader header;
  PackedView input;
  PackedPointwise rule;
  PackedView output;

  HEED_FIELDS(header, input, rule, output)
};

Status run(const PointwiseCall& call, Executor& executor);

}  // namespace heed

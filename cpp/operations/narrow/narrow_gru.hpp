// A gated recurrent unit whose recurrent matrices are stored weights.
#pragma once

#include "operations/gru.hpp"

namespace heed {

/// As GruCall, of three matrices that PackNarrowCall made.
struct NarrowGruCall {
  WeightFormat format = WeightFormat::int8;
  GruInputs inputs;
  GruOptions options;
  Rows<float> states;
  Rows<float> last;

  HEED_FIELDS(format, inputs, options, states, last)
};

Status run(const NarrowGruCall& call, Executor& executor, const StopFlag* stop = nullptr);

}  // namespace heed

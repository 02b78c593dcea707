// ONNX's Attention cases, read where they lie and said in heed's words.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "attention_case.hpp"

namespace heed::testing {

struct ConformanceCase {
  std::string name;
  /// Why heed cannot compute it yet; empty: it can.
  std::string obstacle;
  /// What past_key and past_value hold lies in front of key and value; a call of heed's does not take them yet.
  bool has_past = false;
  AttentionTensors tensors;  // only without an obstacle, or where has_past is the only one
  Owned<float> output;
  std::optional<Owned<float>> weights;
  std::optional<Owned<float>> present_key, present_value;
};

struct ConformanceSet {
  std::vector<ConformanceCase> cases;
  double relative_tolerance = 0.0;
  double absolute_tolerance = 0.0;
};

/// Nothing where the folder is missing: HEED_CONFORMANCE, or ../shared/conformance beside the repository.
std::optional<ConformanceSet> read_conformance_cases();

}  // namespace heed::testing

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
  AttentionTensors tensors;  // only without an obstacle; past and new keys and values side by side
  Owned<float> output;
  std::optional<Owned<float>> weights;
  std::optional<Owned<float>> scores;
  ScoreStage score_stage = ScoreStage::raw;
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

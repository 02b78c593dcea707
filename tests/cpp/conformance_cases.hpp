// ONNX's Attention cases, read where they lie and said in heed's words.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "attention_case.hpp"
#include "conformance_file.hpp"

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

std::vector<ConformanceCase> read_conformance_cases(const ConformanceFile& file);

}  // namespace heed::testing

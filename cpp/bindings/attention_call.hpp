// The packed parameters of one attention call as JavaScript writes them into the heap:
// 32-bit words, no padding. attention_call_layout.cpp tells JavaScript where each lies.
#pragma once

#include <cstdint>

namespace heed::bindings {

struct PackedView {
  std::uint32_t address;  // 0: absent
  std::int32_t shape[4];
  std::int32_t strides[4];
};

struct AttentionCall {
  PackedView query;
  PackedView key;
  PackedView value;
  PackedView mask;
  PackedView bias;
  PackedView output;
  PackedView weights;
  PackedView lse;
  float scale;
  std::int32_t causal;
};

}  // namespace heed::bindings

// The packed parameters of the calls beside attention, as JavaScript writes them into the heap: 32-bit words, no
// padding. extra_call_layout.cpp tells JavaScript where each lies.
#pragma once

#include <cstdint>

#include "bindings/call_header.hpp"
#include "bindings/packed_view.hpp"

namespace heed::bindings {

struct RopeCall {
  CallHeader header;
  PackedView input;
  PackedView cosines;
  PackedView sines;
  PackedView output;
  std::uint32_t frequencies;  // addresses of doubles
  std::uint32_t positions;
  std::int32_t positions_by_batch;
  std::int32_t rotary_dim;
  std::int32_t interleaved;
  std::int32_t inverse;
  float magnitude;
  std::int32_t input_type;  // DType
};

struct LinearCall {
  CallHeader header;
  PackedView query;
  PackedView key;
  PackedView value;
  PackedView decay;
  PackedView beta;
  PackedView state;
  PackedView output;
  PackedView new_state;
  std::int32_t rule;
  std::int32_t causal;
  float scale;  // NaN: the default
  std::int32_t query_type;
  std::int32_t key_type;
  std::int32_t value_type;
};

}  // namespace heed::bindings

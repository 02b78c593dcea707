// The packed parameters of the calls of layers, as JavaScript writes them into the heap: 32-bit words, no padding. Rows
// are views of [1, 1, count, length]. layer_call_layout.cpp tells JavaScript where each lies.
#pragma once

#include <cstdint>

#include "bindings/call_header.hpp"
#include "bindings/packed_view.hpp"

namespace heed::bindings {

struct PackCall {
  CallHeader header;
  PackedView matrix;  // [1, matrices, outputs, inputs], of any strides
  PackedView packed;  // [1, 1, 1, floats]: one after the other
};

/// The epilogue of a product, or a pass of its own.
struct PackedPointwise {
  PackedView bias;
  PackedView factor;
  PackedView addend;
  std::int32_t activation;  // Activation
};

struct AffineCall {
  CallHeader header;
  PackedView input;
  PackedView weights;  // packed
  PackedPointwise rule;
  PackedView output;
};

struct PointwiseCall {
  CallHeader header;
  PackedView input;
  PackedPointwise rule;
  PackedView output;
};

struct NormCall {
  CallHeader header;
  PackedView input;
  PackedView weight;
  PackedView bias;
  std::int32_t is_centred;
  float epsilon;
  PackedView output;
};

struct GatherCall {
  CallHeader header;
  PackedView table;
  std::uint32_t indices;  // address of one int32 a row
  PackedView output;
};

struct GruCall {
  CallHeader header;
  PackedView gates;
  PackedView weights;  // packed
  PackedView bias;
  PackedView state;
  std::int32_t batch;
  std::int32_t is_reversed;
  PackedView states;
  PackedView last;
};

}  // namespace heed::bindings

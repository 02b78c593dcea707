// Rotary position embedding: pairs of numbers of a query or key are rotated by angles that grow with its position.
#pragma once

#include "heed/status.hpp"
#include "operations/common/call.hpp"

namespace heed {

/// B batch, H heads, L length, D head_dim, R rotary_dim.
struct RopeInputs {
  FloatView input;  // [B, H, L, D]

  // Tables may replace frequencies: both of them or neither. A position selects a row; without positions, row l belongs
  // to index l, for each batch entry where there are B tables.
  TensorView<const float> cosines;  // [1 or B, 1, rows, R / 2]
  TensorView<const float> sines;
};

struct RopeOptions {
  Index rotary_dim = 0;      // how many numbers of D are rotated, an even number from the first on; 0: all
  bool interleaved = false;  // pairs are numbers 2i and 2i + 1, else i and i + R / 2
  bool inverse = false;      // rotates back

  // The caller's numbers; null: not given.
  const double* frequencies = nullptr;  // one a pair, radians a position; needed without tables
  const double* positions = nullptr;    // L of them; default 0, 1, 2 ...
  bool positions_by_batch = false;      // there are B * L of them
  float magnitude = 1.0F;               // multiplies rotated numbers

  // Once set, the call ends soon with StatusCode::aborted, its output incomplete.
  const StopFlag* stop = nullptr;
};

/// output[B, H, L, D]: every pair (x, y) becomes (x cos - y sin, x sin + y cos), times magnitude; other numbers
/// are copied. Angles, sines and cosines are computed in double precision. The last axis of input, tables and output
/// must be contiguous. Nothing may overlap. Fails without writing when an input breaks a rule.
Status rope(const RopeInputs& inputs, const RopeOptions& options, const TensorView<float>& output, Executor& executor);

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

  HEED_FIELDS(header, input, cosines, sines, output, frequencies, positions, positions_by_batch, rotary_dim,
              interleaved, inverse, magnitude, input_type)
};

Status run(const RopeCall& call, Executor& executor);

}  // namespace heed

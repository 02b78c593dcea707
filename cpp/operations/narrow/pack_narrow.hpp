// Packs rows of a stored matrix into the panels that narrow products read.
#pragma once

#include "heed/status.hpp"
#include "operations/common/call.hpp"

namespace heed {

/// Rows come in pieces, so that a model is packed as it is read.
struct PackNarrowCall {
  CallHeader header;
  PackedView stored;          // [1, 1, 1, floats]: the bytes of some rows, from output `first` on
  PackedView packed;          // the whole matrix, which is written to
  std::int32_t format;        // WeightFormat
  std::int32_t outputs;       // rows in this piece
  std::int32_t inputs;        // numbers of a row
  std::int32_t first_output;  // a multiple of kNarrowPanel
  std::int32_t are_floats;    // `stored` are f32 numbers, which are rounded to the format: not 0

  HEED_FIELDS(header, stored, packed, format, outputs, inputs, first_output, are_floats)
};

Status run(const PackNarrowCall& call, Executor& executor);

}  // namespace heed

// The start of every packed call, by which a module with several operations tells them apart.
#pragma once

#include <cstdint>

#include "heed/executor.hpp"

namespace heed::bindings {

/// The number of attention is 0, so its calls need not write it.
enum class Operation : std::int32_t {
  attention = 0,
  rope = 1,
  linear_attention = 2,
  pack_weights = 3,
  affine = 4,
  pointwise = 5,
  norm = 6,
  gather = 7,
  gru = 8,
  program = 9,
};

struct CallHeader {
  std::uint32_t stop;  // anything but 0, written while the call runs, aborts it
  std::int32_t operation;
};

inline const StopFlag* stop_of(const CallHeader& header) { return reinterpret_cast<const StopFlag*>(&header.stop); }

}  // namespace heed::bindings

// Scores are kept times log2(e), so that the softmax takes powers of two.
#pragma once

#include <numbers>

namespace heed::kernels {

inline constexpr float kLog2E = std::numbers::log2e_v<float>;
inline constexpr float kLn2 = std::numbers::ln2_v<float>;

}  // namespace heed::kernels

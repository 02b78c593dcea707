// Whole numbers rounded up.
#pragma once

#include <cstdint>

namespace heed {

constexpr std::int64_t divide_up(std::int64_t count, std::int64_t step) { return (count + step - 1) / step; }
constexpr std::int64_t round_up(std::int64_t count, std::int64_t step) { return divide_up(count, step) * step; }

}  // namespace heed

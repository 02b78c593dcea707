// The table of one architecture's kernels beside attention, which are a module of their own in the browser.
#pragma once

#include "kernels/extra_table.hpp"
#include "kernels/linear.hpp"
#include "kernels/rope.hpp"

namespace heed::kernels {

template <class Arch>
constexpr ExtraKernels make_extra_kernels(const char* name) noexcept {
  return {.name = name, .panel = kPanel<Arch>, .rotate = &rotate<Arch>, .attend_linearly = &attend_linearly<Arch>};
}

}  // namespace heed::kernels

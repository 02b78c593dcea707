// The table of one architecture's kernels of layers.
#pragma once

#include "kernels/finish.hpp"
#include "kernels/gates.hpp"
#include "kernels/layer_table.hpp"
#include "kernels/multiply.hpp"
#include "kernels/norm.hpp"

namespace heed::kernels {

template <class Arch>
constexpr LayerKernels make_layer_kernels(const char* name) noexcept {
  return {.name = name,
          .panel = kPanel<Arch>,
          .multiply = &multiply<Arch>,
          .finish = &finish<Arch>,
          .normalize_rows = &normalize_rows<Arch>,
          .pass_gates = &pass_gates<Arch>};
}

}  // namespace heed::kernels

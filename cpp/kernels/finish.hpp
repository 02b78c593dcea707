// What is done to each number by itself, after a product or alone.
#pragma once

#include "kernels/activations.hpp"
#include "kernels/row_blocks.hpp"
#include "kernels/transpose.hpp"

namespace heed::kernels {

template <class Arch, class Function>
[[gnu::noinline]] void finish_rows(const FinishBlock& block) {
  const Function bend;
  for (int index = 0; index < block.row_count; ++index) {
    const float* const source = block.source + index * block.source_stride;
    float* const target = block.target + index * block.target_stride;
    const float* const factor = block.factor.row(block.first_row + index);
    const float* const addend = block.addend.row(block.first_row + index);
    for (int i = 0; i < block.length; i += kLanes<Arch>) {
      const int count = block.length - i < kLanes<Arch> ? block.length - i : kLanes<Arch>;
      Batch<Arch> number = load_some<Arch>(source + i, count);
      if (block.bias != nullptr) number += load_some<Arch>(block.bias + i, count);
      number = bend(number);
      if (factor != nullptr) number *= load_some<Arch>(factor + i, count);
      if (addend != nullptr) number += load_some<Arch>(addend + i, count);
      store_some<Arch>(number, target + i, count);
    }
  }
}

/// See LayerKernels.
template <class Arch>
void finish(const FinishBlock& block) {
  switch (block.bend) {
    case Bend::none:
      return finish_rows<Arch, Identity<Arch>>(block);
    case Bend::relu:
      return finish_rows<Arch, Relu<Arch>>(block);
    case Bend::gelu:
      return finish_rows<Arch, Gelu<Arch>>(block);
    case Bend::gelu_tanh:
      return finish_rows<Arch, GeluTanh<Arch>>(block);
    case Bend::silu:
      return finish_rows<Arch, Silu<Arch>>(block);
    case Bend::tanh:
      return finish_rows<Arch, Tanh<Arch>>(block);
    case Bend::sigmoid:
      return finish_rows<Arch, Logistic<Arch>>(block);
  }
}

}  // namespace heed::kernels

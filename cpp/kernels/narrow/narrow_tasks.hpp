// What the kernels of stored weights are given, and how those weights are packed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "heed/vocabulary.hpp"
#include "kernels/simd/width.hpp"

namespace heed::kernels {

/// Packed weights are panels of so many outputs, on every machine.
inline constexpr int kNarrowPanel = 16;
/// Numbers of whole formats share scales by groups of so many inputs.
inline constexpr int kGroup = 32;

constexpr bool is_half(WeightFormat format) { return format == WeightFormat::f16 || format == WeightFormat::bf16; }

/// How many numbers share a block of a stored row, and its bytes.
struct BlockSize {
  int numbers, bytes;
};
BlockSize block_of(WeightFormat format);

/// The bytes of a packed panel over `inputs`, a multiple of 64 for whole groups.
std::ptrdiff_t panel_bytes(WeightFormat format, std::ptrdiff_t inputs);

/// Some rows of a stored matrix, to be packed into one panel from its column `first` on; columns after the last row
/// become zeros.
struct PackPanelTask {
  WeightFormat format;
  const std::uint8_t* rows;  // whole blocks, one row after the other, or f32 numbers, which are rounded
  std::ptrdiff_t inputs;
  int row_count;
  std::uint8_t* panel;
  bool are_floats = false;
};
/// False if a number is none that the format can have, or nearly.
bool pack_panel(const PackPanelTask& task);

/// Whether f32 numbers can be rounded to a format here.
bool is_rounded_to(WeightFormat format);

/// Bytes that a row of activations takes when it is quantized for products with a format.
std::ptrdiff_t quantized_bytes(WeightFormat format, std::ptrdiff_t inputs);
void quantize_row(WeightFormat format, const float* row, std::ptrdiff_t inputs, std::uint8_t* quantized);

/// Rows times packed columns.
struct NarrowGemmTask {
  WeightFormat format;
  const float* rows;              // read by formats of 16 bits
  std::ptrdiff_t row_stride;      //
  const std::uint8_t* quantized;  // read by the others: rows, one after the other
  int row_count;                  // at most kMostNarrowRows
  const std::uint8_t* panels;     // from the first column on
  int inputs;
  int columns;  // the last panel perhaps in part
  float* sums;
  std::ptrdiff_t sum_stride;
  float* scratch;  // narrow_scratch_floats(), aligned; null for formats of whole numbers
};
inline constexpr int kMostNarrowRows = 96;
std::ptrdiff_t narrow_scratch_floats(WeightFormat format);
void narrow_gemm(const NarrowGemmTask& task);
/// Likewise, of weights of 16 bits.
void multiply_half(const NarrowGemmTask& task);

/// Numbers [first, first + count) of a row of packed weights, in f32; `first` is a multiple of kGroup.
struct WidenTask {
  WeightFormat format;
  const std::uint8_t* panels;  // of the matrix
  std::ptrdiff_t inputs;
  std::ptrdiff_t output;  // the row
  std::ptrdiff_t first;
  int count;
};
void widen_weights(const WidenTask& task, float* target);

}  // namespace heed::kernels

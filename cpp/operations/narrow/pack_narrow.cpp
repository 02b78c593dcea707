#include "operations/narrow/pack_narrow.hpp"

#include <algorithm>

#include "heed/rounding.hpp"
#include "operations/narrow/common.hpp"

namespace heed {
namespace {

constexpr RowRules kRules{"packNarrow"};

}  // namespace

Status run(const PackNarrowCall& call, Executor& /*executor*/) {
  const auto format = static_cast<WeightFormat>(call.format);
  const Index outputs = call.outputs, inputs = call.inputs, first = call.first_output;
  const Index stored = call.stored.shape[3], packed = call.packed.shape[3];
  const auto [least, most] = std::minmax({outputs, inputs, first, stored, packed});
  if (least < 0 || most > kMaxSize) {
    return kRules.broken(StatusCode::shape, {"sizes must be between 0 and 2^30, got ", outputs, " outputs of ", inputs,
                                             " inputs from ", first, ", rows of ", stored, " and panels of ", packed});
  }
  if (first % kernels::kNarrowPanel != 0) {
    return kRules.broken(StatusCode::shape, {"a piece must begin at a multiple of ", Index{kernels::kNarrowPanel},
                                             " outputs, got ", first});
  }
  if (Status status = check_format(kRules, format, inputs); !status.is_ok()) return status;
  const bool are_floats = call.are_floats != 0;
  if (are_floats && !kernels::is_rounded_to(format)) {
    return kRules.broken(StatusCode::option, {"f32 numbers must not be packed in a format that only files have"});
  }
  const auto [numbers, bytes] = are_floats ? kernels::BlockSize{1, sizeof(float)} : kernels::block_of(format);
  const Index row_bytes = inputs / numbers * bytes;
  const Index panel_bytes = kernels::panel_bytes(format, static_cast<std::ptrdiff_t>(inputs));
  const Index end = divide_up(first + outputs, Index{kernels::kNarrowPanel}) * panel_bytes;
  if (stored * 4 < outputs * row_bytes || packed * 4 < end) {
    return kRules.broken(StatusCode::shape, {"rows and panels must have room for ", outputs, " outputs of ", inputs,
                                             " inputs, got other sizes"});
  }
  const auto* rows = pointer<const std::uint8_t>(call.stored.address);
  auto* panel = pointer<std::uint8_t>(call.packed.address) + first / kernels::kNarrowPanel * panel_bytes;
  for (Index output = 0; output < outputs; output += kernels::kNarrowPanel) {
    const int count = static_cast<int>(std::min<Index>(kernels::kNarrowPanel, outputs - output));
    if (!kernels::pack_panel({.format = format,
                              .rows = rows + output * row_bytes,
                              .inputs = static_cast<std::ptrdiff_t>(inputs),
                              .row_count = count,
                              .panel = panel,
                              .are_floats = are_floats})) {
      return kRules.broken(StatusCode::option, {"numbers must be finite, and in the range of their format, outputs ",
                                                first + output, " to ", first + output + count - 1, " have others"});
    }
    panel += panel_bytes;
  }
  return {};
}

}  // namespace heed

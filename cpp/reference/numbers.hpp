// Numbers of any type in double precision, by the definition of their format.
#pragma once

#include <vector>

#include "heed/tensor_view.hpp"

namespace heed::reference {

double value_of(Float16 half);

/// Reads one row of a view.
std::vector<double> read_row(const FloatView& view, Index batch, Index head, Index row);

/// Reads all rows of a head.
std::vector<std::vector<double>> read_rows(const FloatView& view, Index batch, Index head);

}  // namespace heed::reference

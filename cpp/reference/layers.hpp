// Layers by their definitions, in double precision. Results are row-major.
#pragma once

#include <cstdint>
#include <vector>

#include "operations/affine.hpp"
#include "operations/gru.hpp"
#include "operations/norm.hpp"
#include "operations/pack.hpp"
#include "operations/pointwise.hpp"

namespace heed::reference {

double activate(Activation activation, double x);

/// Computes heed::pointwise for numbers [rows][length].
std::vector<double> pointwise(const std::vector<double>& numbers, Index rows, Index length, const Pointwise& rule);

/// Computes input W^T alone.
std::vector<double> product(const Rows<const float>& input, const WeightMatrix& weights);

struct NormalizedRows {
  std::vector<double> output, mean, inverse_deviation;
};
NormalizedRows normalize_rows(const Rows<const float>& input, const RowNorm& norm);

/// Returns the states of every step. The three matrices lie one below the other, [3 H, H].
std::vector<double> gru(const GruInputs& inputs, const GruOptions& options, const float* matrices);

}  // namespace heed::reference

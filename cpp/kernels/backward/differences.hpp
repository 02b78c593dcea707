// The backward pass of scores of squared differences (rbf, distance). A pair with the factor f adds f (k - q) to the
// gradient of its query and f (q - k) to that of its key. The difference comes first, as in the scores: sums of f k and
// f q cancel where a key lies close to the query, or both far from zero.
#pragma once

#include "kernels/gemm/register_tile.hpp"
#include "kernels/simd/transpose.hpp"
#include "kernels/task/panel.hpp"

namespace heed::kernels {

/// sum + factor * difference. A pair whose factor is zero counts for nothing, NaN or not.
inline Batch add_difference(Batch factor, Batch difference, Batch sum) {
  const Batch zero(0.0F);
  return multiply_add(factor, xsimd::select(factor == zero, zero, difference), sum);
}

/// The factors of a panel and some keys, [count][kPanel], and the keys.
struct DifferenceFactors {
  const float* numbers;
  int count;
  FloatRows keys;
};

/// Adds to kRows dimensions of the gradients of queries, [kRows][kPanel]; `queries` are the same dimensions of these.
template <int kRows>
[[gnu::noinline]] void add_query_tile(const DifferenceFactors& factors, int first_dim, const float* queries,
                                      float* gradient) {
  for (int first_lane = 0; first_lane < kPanel; first_lane += kLanes) {
    Batch query[kRows];
    Batch sum[kRows];
    for (int r = 0; r < kRows; ++r) {
      query[r] = Batch::load_aligned(queries + r * kPanel + first_lane);
      sum[r] = Batch::load_aligned(gradient + r * kPanel + first_lane);
    }
    for (int j = 0; j < factors.count; ++j) {
      const Batch factor = Batch::load_aligned(factors.numbers + j * kPanel + first_lane);
      const float* const key = factors.keys.row(j) + first_dim;
      for (int r = 0; r < kRows; ++r) sum[r] = add_difference(factor, Batch::broadcast(key[r]) - query[r], sum[r]);
    }
    for (int r = 0; r < kRows; ++r) sum[r].store_aligned(gradient + r * kPanel + first_lane);
  }
}

/// Some dimensions, no more than a vector has, of the queries of a panel, in aligned rows.
struct QueryColumns {
  FloatRows rows;
  int row_count;
  int dims;
};

/// Adds to the same dimensions of the gradients of kRows keys, the first of which `factors` begin with.
template <int kRows>
[[gnu::noinline]] void add_key_tile(const DifferenceFactors& factors, const QueryColumns& queries, float* gradient) {
  const std::ptrdiff_t stride = queries.rows.stride;
  Batch key[kRows];
  Batch sum[kRows];
  for (int r = 0; r < kRows; ++r) {
    key[r] = load_some(factors.keys.row(r), queries.dims);
    sum[r] = Batch::load_aligned(gradient + r * stride);
  }
  for (int lane = 0; lane < queries.row_count; ++lane) {
    const Batch query = Batch::load_aligned(queries.rows.row(lane));
    for (int r = 0; r < kRows; ++r) {
      const Batch factor = Batch::broadcast(factors.numbers[r * kPanel + lane]);
      sum[r] = add_difference(factor, query - key[r], sum[r]);
    }
  }
  for (int r = 0; r < kRows; ++r) sum[r].store_aligned(gradient + r * stride);
}

/// gradient[dim][kPanel] += what some keys add to the queries of a panel.
inline void add_query_differences(const Panel& panel, int dim, const DifferenceFactors& factors, float* gradient) {
  for_each_tile(dim, [&]<int kRows>(int first) {
    add_query_tile<kRows>(factors, first, panel.query + first * kPanel, gradient + first * kPanel);
  });
}

/// gradient[key][dim] += what the queries of a panel add to some keys. Both are aligned rows of one stride.
inline void add_key_differences(const Panel& panel, int dim, const DifferenceFactors& factors, const FloatRows& queries,
                                float* gradient) {
  for (int first = 0; first < dim; first += kLanes) {
    const QueryColumns columns{
        {queries.data + first, queries.stride}, panel.row_count, dim - first < kLanes ? dim - first : kLanes};
    for_each_tile(factors.count, [&]<int kRows>(int key) {
      add_key_tile<kRows>({factors.numbers + key * kPanel, kRows, {factors.keys.row(key) + first, factors.keys.stride}},
                          columns, gradient + key * queries.stride + first);
    });
  }
}

}  // namespace heed::kernels

// The epilogue of a row, whole or combined from KV splits: it divides by the row sum, and writes output, lse, entropy and stats.

override SOFTMAX: bool;
override SINKS: bool;
override LSE: bool;
override ENTROPY: bool;
override STATS: bool;

// Elements e to e + 3 of an output row, as far as it has them.
fn write_output(at: u32, e: u32, value: vec4f) {
  for (var n = 0u; n < 4u; n++) {
    if (e + n < P.value_dim) {
      results[at + e + n] = bits_of(value[n]);
    }
  }
}

// Returns what the output is to be multiplied by. Without dropout P.drop_keep is 1.
fn row_epilogue(given: RowState, h: u32, row: u32, writes: bool) -> f32 {
  if (SOFTMAX) {
    // The weight of a key that is seen is at least SMALLEST_WEIGHT.
    let is_empty = given.row_sum == 0.0;
    var sums = given;
    // A sink may raise the row max, by which the output was not rescaled, and its own part of the row sum is no weight.
    var rescale = 1.0;
    if (SINKS) {
      let sink = float_at(P.sinks + h);
      if (sink > NONE && !is_empty) {
        sums.row_max = select(given.row_max, sink, sink > given.row_max);
        rescale = exp(given.row_max - sums.row_max);
        sums.entropy_sum = rescale * (given.entropy_sum + given.row_sum * (given.row_max - sums.row_max));
        sums.row_sum = given.row_sum * rescale + exp(sink - sums.row_max);
      }
    }
    if (writes) {
      if (LSE) {
        results[P.lse_at + row] = select(bits_of(sums.row_max + log(sums.row_sum)), MINUS_INFINITY, is_empty);
      }
      if (ENTROPY) {
        // -sum of p ln p, where p = exp(score - row_max) / row_sum.
        var weights = 1.0;
        if (SINKS) {
          weights = select(1.0, given.row_sum * rescale / sums.row_sum, !is_empty);
        }
        results[P.entropy_at + row] = bits_of(select(weights * log(sums.row_sum) - sums.entropy_sum / sums.row_sum, 0.0, is_empty));
      }
      if (STATS) {
        stats[row] = vec2f(sums.row_max, sums.row_sum);
      }
    }
    return select(P.drop_keep * rescale / sums.row_sum, 0.0, is_empty);
  } else {
    return P.drop_keep;
  }
}

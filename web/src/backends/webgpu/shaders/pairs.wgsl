// Results with one number a query and key: scores, weights, or the mean of the weights over the heads. A thread computes one pair.

override SOFTMAX: bool;
override SCORES: bool;
// The stage at which scores are wanted.
override CAPPED: bool;
override MASKED: bool;
override WEIGHTS: bool;
override MEAN: bool;
override WORKGROUP: u32;

struct Pair {
  raw: f32,
  score: Score,
  weight: f32,
}

fn pair_of(b: u32, h: u32, i: u32, j: u32) -> Pair {
  let row = row_of(b, h, i);
  var pair: Pair;
  pair.raw = score_at(row, b * P.q_b + h * P.q_h + i * P.q_i, b * P.k_b + (h / P.pack) * P.k_h + j * P.k_j);
  pair.score = transform_score(row, cap_score(pair.raw), j);
  if (WEIGHTS) {
    if (pair.score.seen) {
      var weight = plain_weight(pair.score.value);
      if (SOFTMAX) {
        weight = exp(pair.score.value - stats[row.number].x) / stats[row.number].y;
      }
      pair.weight = kept_weight(weight * P.drop_keep, row, j);
    }
  }
  return pair;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let index = group_index(group) * WORKGROUP + thread;
  if (index >= P.pairs) {
    return;
  }
  let j = index % P.keys;
  let i = P.pairs_from + (index / P.keys) % P.pairs_rows;
  let outer = index / P.keys / P.pairs_rows;
  if (MEAN) {
    var sum = 0.0;
    for (var h = 0u; h < P.heads; h++) {
      sum += pair_of(outer, h, i, j).weight;
    }
    results[P.weights_at + index] = bits_of(sum / f32(P.heads));
  } else {
    let pair = pair_of(outer / P.heads, outer % P.heads, i, j);
    if (SCORES) {
      var score = bits_of(pair.raw);
      if (CAPPED) {
        score = bits_of(cap_score(pair.raw));
      }
      if (MASKED) {
        score = select(MINUS_INFINITY, bits_of(pair.score.value), pair.score.seen);
      }
      results[P.scores_at + index] = score;
    }
    if (WEIGHTS) {
      if (i >= P.weights_from && i < P.weights_to) {
        let at = (outer * (P.weights_to - P.weights_from) + i - P.weights_from) * P.keys + j;
        results[P.weights_at + at] = bits_of(pair.weight);
      }
    }
  }
}

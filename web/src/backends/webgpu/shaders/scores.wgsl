// A query row, and what happens to its scores: the steps of docs/semantics/attention.md that the call has.

override SOFTCAP: bool;
override ALIBI_SLOPES: bool;
override RANGES: bool;
override MASK: bool;
override BIAS: bool;
override SCORE_MOD: bool;
override MASK_MOD: bool;
override RBF: bool;
override DROPOUT: bool;

struct Row {
  number: u32,
  begin: u32,
  end: u32,
  position: i32,
  mask_at: u32,
  bias_at: u32,
  slope: f32,
  // The factor of a squared distance.
  width: f32,
  // Where the weights of an additive score are in the tables.
  weights_at: u32,
  drop: u32,
  // Batch entry, head and query, for expressions.
  indices: vec3f,
}

struct Score {
  value: f32,
  seen: bool,
}

fn row_of(b: u32, h: u32, i: u32) -> Row {
  var row: Row;
  row.number = (b * P.heads + h) * P.queries + i;
  row.begin = 0u;
  row.end = P.keys;
  if (RANGES) {
    let range = P.ranges_at + (b * P.queries + i) * 3u;
    row.begin = tables[range];
    row.end = tables[range + 1u];
    row.position = bitcast<i32>(tables[range + 2u]);
  }
  row.mask_at = b * P.mask_b + h * P.mask_h + i * P.mask_i;
  row.bias_at = b * P.bias_b + h * P.bias_h + i * P.bias_i;
  if (ALIBI_SLOPES) {
    row.slope = float_at(P.alibi_slopes + h);
  }
  row.weights_at = P.constants_at + h * P.constants_h;
  if (RBF) {
    row.width = float_at(row.weights_at);
  }
  if (DROPOUT) {
    row.drop = mix_bits(P.drop_seed ^ row.number);
  }
  row.indices = vec3f(f32(b), f32(h), f32(i));
  return row;
}

fn cap_score(raw: f32) -> f32 {
  if (SOFTCAP) {
    let cap = bitcast<f32>(P.softcap);
    return cap * tanh_f32(raw / cap);
  } else {
    return raw;
  }
}

fn transform_score(row: Row, given: f32, j: u32) -> Score {
  var score = Score(given, j >= row.begin && j < row.end);
  if (SCORE_MOD) {
    score.value = score_mod(given, row, f32(j));
    score.seen = score.seen && !(score.value < -BIAS_LIMIT);
    score.value = select(score.value, BIAS_LIMIT, score.value > BIAS_LIMIT);
  }
  if (MASK_MOD) {
    score.seen = score.seen && mask_mod(0.0, row, f32(j)) != 0.0;
  }
  if (ALIBI_SLOPES) {
    score.value -= row.slope * abs(f32(row.position - i32(j)));
  }
  if (MASK) {
    if (score.seen) {
      let at = row.mask_at + j * P.mask_j;
      score.seen = ((mask_data[at >> 2u] >> ((at & 3u) * 8u)) & 0xffu) != 0u;
    }
  }
  if (BIAS) {
    if (score.seen) {
      let bits = bias_data[row.bias_at + j * P.bias_j];
      let added = bitcast<f32>(bits);
      score.seen = bits != MINUS_INFINITY;
      score.value += select(select(added, BIAS_LIMIT, added > BIAS_LIMIT), -BIAS_LIMIT, added < -BIAS_LIMIT);
    }
  }
  score.seen = score.seen && !(score.value < NONE);
  return score;
}

// The weight of a score without softmax, and dropout of weights as docs/semantics/attention.md has it.

override SIGMOID: bool;
override DROPOUT: bool;

fn sigmoid_of(x: f32) -> f32 {
  return 1.0 / (1.0 + exp(select(-x, 88.0, x < -88.0)));
}

fn plain_weight(score: f32) -> f32 {
  if (SIGMOID) {
    return sigmoid_of(score);
  } else {
    return score;
  }
}

fn mix_bits(given: u32) -> u32 {
  var x = given;
  x = (x ^ (x >> 16u)) * 0x7feb352du;
  x = (x ^ (x >> 15u)) * 0x846ca68bu;
  return x ^ (x >> 16u);
}

fn kept_weight(weight: f32, row: Row, j: u32) -> f32 {
  if (DROPOUT) {
    return select(weight, 0.0, mix_bits(row.drop ^ (j * 0x9e3779b9u)) <= P.drop_last);
  } else {
    return weight;
  }
}

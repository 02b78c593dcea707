// The score of a pair: a function of the squared distance |q - k|^2.

override RBF: bool;

fn pair_term(q: vec4f, k: vec4f, weights_at: u32) -> vec4f {
  return (q - k) * (q - k);
}

fn pair_dot(q: vec4f, k: vec4f, weights_at: u32) -> f32 {
  return dot(q - k, q - k);
}

fn pair_score(row: Row, total: f32, gate: f32) -> f32 {
  if (RBF) {
    return total * row.width * P.scale;
  } else {
    return -sqrt(total) * P.scale;
  }
}

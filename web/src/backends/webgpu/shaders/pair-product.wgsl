// The score of a pair: q . k, and for a gated score times the sigmoid of the gate, which is the sum of an element of either.

override GATED: bool;

fn pair_term(q: vec4f, k: vec4f, weights_at: u32) -> vec4f {
  return q * k;
}

fn pair_dot(q: vec4f, k: vec4f, weights_at: u32) -> f32 {
  return dot(q, k);
}

fn pair_score(row: Row, total: f32, gate: f32) -> f32 {
  if (GATED) {
    return total * sigmoid_of(gate) * P.scale;
  } else {
    return total * P.scale;
  }
}

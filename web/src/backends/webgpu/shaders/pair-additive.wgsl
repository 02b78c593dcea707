// The score of a pair: v . tanh(q + k).

fn pair_term(q: vec4f, k: vec4f, weights_at: u32) -> vec4f {
  let weights = vec4f(float_at(weights_at), float_at(weights_at + 1u), float_at(weights_at + 2u), float_at(weights_at + 3u));
  return weights * tanh_vec4f(q + k);
}

fn pair_dot(q: vec4f, k: vec4f, weights_at: u32) -> f32 {
  return dot(pair_term(q, k, weights_at), vec4f(1.0));
}

fn pair_score(row: Row, total: f32, gate: f32) -> f32 {
  return total * P.scale;
}

// The score of the query at q_at and the key at k_at, which a thread reads for itself.

override TERMS: u32;
override GATED: bool;

fn score_at(row: Row, q_at: u32, k_at: u32) -> f32 {
  var sum = vec4f();
  for (var d = 0u; d < TERMS; d++) {
    sum += pair_term(load_q(q_at, d * 4u, P.head_dim), load_k(k_at, d * 4u, P.head_dim), row.weights_at + d * 4u);
  }
  var gate = 0.0;
  if (GATED) {
    gate = (load_q(q_at, TERMS * 4u, P.head_dim) + load_k(k_at, TERMS * 4u, P.head_dim)).x;
  }
  return pair_score(row, dot(sum, vec4f(1.0)), gate);
}

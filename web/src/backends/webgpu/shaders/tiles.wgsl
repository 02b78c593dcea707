// Prefill kernel: online softmax between two tiled GEMMs. The register tile of a thread is OWN query rows x OWN keys of scores, then every eighth
// vector of the same rows' outputs. Eight neighbouring threads share OWN rows and all keys of a KV block.

override ROWS: u32;
override VECTORS: u32;
override VALUE_VECTORS: u32;
// Vectors of a query or key without the gate.
override TERMS: u32;
// Queries stay in workgroup memory.
override RESIDENT: bool;
override PAIRWISE: bool;
override GATED: bool;
override SOFTMAX: bool;
override ENTROPY: bool;
override DROPOUT: bool;
// No key is masked, so all have a weight, and rows beyond the keys are zeros.
override ALL_SEEN: bool;

// Rows and keys of a thread; each is a component of a vector.
override OWN: u32;
// Keys of a KV block.
override KEYS: u32;
// Vectors of a row of Q or K that are in workgroup memory at a time.
override DEPTH: u32;
// VECTORS is no multiple of DEPTH.
override RAGGED: bool;
// Vectors from one row to the next: odd numbers, so that rows of neighbouring threads lie in different banks.
override STRIDE: u32;
override QUERY_STRIDE: u32;
override WEIGHT_STRIDE: u32;
// Where `staged` has the keys.
override KEYS_AT: u32;
// Value rows that are staged at a time, and vectors that a thread has of each.
override VALUE_KEYS: u32;
override OWN_VECTORS: u32;
override QUERIES_SIZE: u32;
override STAGED_SIZE: u32;
override WEIGHTS_SIZE: u32;

const THREADS = ROWS / OWN * SHARING;
const VALUE_STRIDE = OWN_VECTORS * SHARING;

var<workgroup> queries: array<vec4f, QUERIES_SIZE>;
var<workgroup> staged: array<vec4f, STAGED_SIZE>;
var<workgroup> weights: array<vec4f, WEIGHTS_SIZE>;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3u, local: Local) {
  let index = group_index(group);
  if (index >= P.groups) {
    return;
  }
  let task = task_of(index);
  let numbered = number_lanes(local);
  let by_lanes = are_lanes_numbered(local);
  let thread = select(local.index, numbered, by_lanes);
  let side = thread % SHARING;
  let four = thread / SHARING;
  let first_packed = task.row_tile * ROWS + four * OWN;
  var rows: array<Row, OWN>;
  for (var r = 0u; r < OWN; r++) { // unroll
    rows[r] = packed_row(task, first_packed + r);
  }
  if (RESIDENT) {
    keep_queries(task, thread);
  }
  var row_max = vec4f(empty_state().row_max);
  // Without softmax the eight sums of a row add up to 1.
  var row_sum = vec4f(empty_state().row_sum / f32(SHARING));
  var entropy_sum = vec4f();
  var o: array<array<vec4f, OWN_VECTORS>, OWN>;

  for (var first = task.begin; first < task.end; first += KEYS) {
    // Tint sets a variable without an initializer to zero once, and not in each round of a loop.
    // Vectors of OWN rows, one for each key.
    var s = array<vec4f, OWN>();
    var gates = array<vec4f, OWN>();
    for (var start = 0u; start < VECTORS; start += DEPTH) {
      workgroupBarrier();
      if (!RESIDENT) {
        stage_queries(task, start, thread);
      }
      stage_keys(task, first, start, thread);
      workgroupBarrier();
      // A constant, where all rounds are as deep.
      var depth = DEPTH;
      if (RAGGED) {
        depth = min(DEPTH, VECTORS - start);
      }
      for (var d = 0u; d < depth; d++) {
        var q: array<vec4f, OWN>;
        for (var r = 0u; r < OWN; r++) { // unroll
          if (RESIDENT) {
            q[r] = queries[(four * OWN + r) * QUERY_STRIDE + start + d];
          } else {
            q[r] = staged[(four * OWN + r) * STRIDE + d];
          }
        }
        var k: array<vec4f, OWN>;
        for (var c = 0u; c < OWN; c++) { // unroll
          k[c] = staged[KEYS_AT + (side + c * SHARING) * STRIDE + d];
        }
        if (PAIRWISE) {
          for (var r = 0u; r < OWN; r++) { // unroll
            for (var c = 0u; c < OWN; c++) { // unroll
              s[c][r] += dot(pair_term(q[r], k[c], rows[r].weights_at + (start + d) * 4u), vec4f(1.0));
            }
          }
        } else {
          if (GATED) {
            if (start + d == TERMS) {
              for (var c = 0u; c < OWN; c++) { // unroll
                gates[c] = vec4f(q[0].x, q[1].x, q[2].x, q[3].x) + k[c].x;
              }
              break;
            }
          }
          for (var at = 0u; at < 4u; at++) { // unroll
            let column = vec4f(q[0][at], q[1][at], q[2][at], q[3][at]);
            for (var c = 0u; c < OWN; c++) { // unroll
              s[c] = fma(column, vec4f(k[c][at]), s[c]);
            }
          }
        }
      }
    }

    // The transforms of a score are long, so the keys are a loop, and scores and weights lie in workgroup memory meanwhile.
    for (var c = 0u; c < OWN; c++) { // unroll
      weights[(side + c * SHARING) * WEIGHT_STRIDE + four] = s[c];
    }
    var seen = 0u;
    var new_max = row_max;
    for (var c = 0u; c < OWN; c++) {
      let j = first + side + c * SHARING;
      let at = (side + c * SHARING) * WEIGHT_STRIDE + four;
      var scores = weights[at];
      var gate = vec4f();
      if (GATED) {
        gate = select(select(select(gates[0], gates[1], c == 1u), gates[2], c == 2u), gates[3], c == 3u);
      }
      for (var r = 0u; r < OWN; r++) { // unroll
        let score = transform_score(rows[r], cap_score(pair_score(rows[r], scores[r], gate[r])), j);
        let is_seen = score.seen && j < task.end;
        scores[r] = select(NONE, score.value, is_seen);
        seen |= select(0u, 1u, is_seen) << (c * OWN + r);
      }
      weights[at] = scores;
      if (SOFTMAX) {
        new_max = select(new_max, scores, scores > new_max);
      }
    }
    workgroupBarrier();
    if (SOFTMAX) {
      new_max = eight_max(new_max, thread, by_lanes);
      let rescale = select(exp(row_max - new_max), vec4f(), row_max <= vec4f(NONE));
      if (ENTROPY) {
        entropy_sum = select(rescale * (entropy_sum + row_sum * (row_max - new_max)), vec4f(), row_max <= vec4f(NONE));
      }
      row_sum *= rescale;
      row_max = new_max;
      for (var r = 0u; r < OWN; r++) { // unroll
        for (var n = 0u; n < OWN_VECTORS; n++) { // unroll
          o[r][n] *= rescale[r];
        }
      }
    }
    for (var c = 0u; c < OWN; c++) {
      let j = first + side + c * SHARING;
      let at = (side + c * SHARING) * WEIGHT_STRIDE + four;
      let is_seen = ((vec4u(seen) >> vec4u(c * OWN)) & vec4u(1u, 2u, 4u, 8u)) != vec4u();
      var weight = weights[at];
      if (SOFTMAX) {
        let below = weight - row_max;
        let power = exp(below);
        weight = select(vec4f(), select(power, vec4f(SMALLEST_WEIGHT), power < vec4f(SMALLEST_WEIGHT)), is_seen);
        row_sum += weight;
        if (ENTROPY) {
          entropy_sum += select(vec4f(), weight * below, is_seen & !(below < vec4f(-80.0)));
        }
      } else {
        for (var r = 0u; r < OWN; r++) { // unroll
          weight[r] = select(0.0, plain_weight(weight[r]), is_seen[r]);
        }
      }
      if (DROPOUT) {
        for (var r = 0u; r < OWN; r++) { // unroll
          weight[r] = kept_weight(weight[r], rows[r], j);
        }
      }
      weights[at] = weight;
    }

    for (var start = 0u; start < KEYS; start += VALUE_KEYS) {
      if (start > 0u) {
        workgroupBarrier();
      }
      stage_values(task, first + start, thread);
      workgroupBarrier();
      for (var key = 0u; key < VALUE_KEYS; key++) {
        let w = weights[(start + key) * WEIGHT_STRIDE + four];
        var v: array<vec4f, OWN_VECTORS>;
        for (var n = 0u; n < OWN_VECTORS; n++) { // unroll
          v[n] = staged[key * VALUE_STRIDE + side + n * SHARING];
        }
        if (ALL_SEEN || all(w != vec4f())) {
          for (var r = 0u; r < OWN; r++) { // unroll
            for (var n = 0u; n < OWN_VECTORS; n++) { // unroll
              o[r][n] = fma(vec4f(w[r]), v[n], o[r][n]);
            }
          }
        } else {
          // A value without weight is not added: it may be NaN.
          for (var r = 0u; r < OWN; r++) { // unroll
            if (w[r] != 0.0) {
              for (var n = 0u; n < OWN_VECTORS; n++) { // unroll
                o[r][n] = fma(vec4f(w[r]), v[n], o[r][n]);
              }
            }
          }
        }
      }
    }
  }

  workgroupBarrier();
  row_sum = eight_sum(row_sum, thread, by_lanes);
  if (ENTROPY) {
    entropy_sum = eight_sum(entropy_sum, thread, by_lanes);
  }
  for (var r = 0u; r < OWN; r++) { // unroll
    if (is_row(first_packed + r)) {
      let state = RowState(row_max[r], row_sum[r], entropy_sum[r]);
      let written = open_row(task, first_packed + r, state, task.chunk == 0u && side == 0u);
      for (var n = 0u; n < OWN_VECTORS; n++) { // unroll
        if (side + n * SHARING < VALUE_VECTORS) {
          write_vector(written, task.first_vector + side + n * SHARING, o[r][n]);
        }
      }
    }
  }
}

// Rows are staged as a vector a thread and round, with zeros for what is not there.

fn keep_queries(task: Task, thread: u32) {
  for (var n = thread; n < ROWS * VECTORS; n += THREADS) {
    let q_at = query_at(task, task.row_tile * ROWS + n / VECTORS);
    queries[n / VECTORS * QUERY_STRIDE + n % VECTORS] = load_q(q_at, n % VECTORS * 4u, P.head_dim);
  }
}

fn stage_queries(task: Task, start: u32, thread: u32) {
  for (var n = thread; n < ROWS * DEPTH; n += THREADS) {
    let d = start + n % DEPTH;
    var loaded = vec4f();
    if (d < VECTORS) {
      loaded = load_q(query_at(task, task.row_tile * ROWS + n / DEPTH), d * 4u, P.head_dim);
    }
    staged[n / DEPTH * STRIDE + n % DEPTH] = loaded;
  }
}

fn stage_keys(task: Task, first: u32, start: u32, thread: u32) {
  for (var n = thread; n < KEYS * DEPTH; n += THREADS) {
    let j = first + n / DEPTH;
    let d = start + n % DEPTH;
    var loaded = vec4f();
    if (d < VECTORS && j < task.end) {
      loaded = load_k(task.keys_at + j * P.k_j, d * 4u, P.head_dim);
    }
    staged[KEYS_AT + n / DEPTH * STRIDE + n % DEPTH] = loaded;
  }
}

fn stage_values(task: Task, first: u32, thread: u32) {
  for (var n = thread; n < VALUE_KEYS * VALUE_VECTORS; n += THREADS) {
    let j = first + n / VALUE_VECTORS;
    let e = n % VALUE_VECTORS;
    var loaded = vec4f();
    if (j < task.end) {
      loaded = load_v(task.values_at + j * P.v_j, (task.first_vector + e) * 4u, P.value_dim);
    }
    staged[n / VALUE_VECTORS * VALUE_STRIDE + e] = loaded;
  }
}

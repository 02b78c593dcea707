// Online softmax for software adapters: a thread computes OWN rows and reads each key and value once for all of them. There is no workgroup
// memory, which on a CPU is only a copy. SHARES groups of threads compute the same rows, each for a KV split of its own.

override ROWS: u32;
override OWN: u32;
override SHARES: u32;
override STEP: u32;
override VECTORS: u32;
override VALUE_VECTORS: u32;

const SHARE_THREADS = ROWS / OWN;

alias Weights = array<Scores, OWN>;
alias Outputs = array<array<vec4f, VALUE_VECTORS>, OWN>;

@compute @workgroup_size(SHARE_THREADS * SHARES)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let index = group_index(group);
  if (index >= P.groups) {
    return;
  }
  let task = task_of(index, SHARES, thread / SHARE_THREADS);
  if (task.split >= P.splits) {
    return;
  }
  let first_packed = task.row_tile * ROWS + (thread % SHARE_THREADS) * OWN;
  var rows: array<Row, OWN>;
  var queries: array<array<vec4f, VECTORS>, OWN>;
  var o: Outputs;
  var states: array<RowState, OWN>;
  var weights: Weights;
  for (var r = 0u; r < OWN; r++) {
    rows[r] = packed_row(task, first_packed + r);
    states[r] = empty_state();
    let q_at = query_at(task, first_packed + r);
    for (var d = 0u; d < VECTORS; d++) {
      queries[r][d] = load_q(q_at, d * 4u, P.head_dim);
    }
  }

  for (var j = task.begin; j < task.end; j += STEP) {
    // Tint sets a variable without an initializer to zero once, and not in each round of a loop.
    var totals = Weights();
    var key_at: array<u32, STEP>;
    for (var c = 0u; c < STEP; c++) { // unroll
      key_at[c] = task.keys_at + min(j + c, P.keys - 1u) * P.k_j;
    }
    for (var d = 0u; d < VECTORS; d++) {
      var k: array<vec4f, STEP>;
      for (var c = 0u; c < STEP; c++) { // unroll
        k[c] = load_k(key_at[c], d * 4u, P.head_dim);
      }
      for (var r = 0u; r < OWN; r++) { // unroll
        let q = queries[r][d];
        for (var c = 0u; c < STEP; c++) { // unroll
          totals[r][c] += pair_dot(q, k[c], 0u);
        }
      }
    }
    for (var r = 0u; r < OWN; r++) { // unroll
      for (var c = 0u; c < STEP; c++) { // unroll
        weights[r][c] = totals[r][c];
      }
    }
    var all_weigh = true;
    for (var r = 0u; r < OWN; r++) {
      let row = rows[r];
      var sums = states[r];
      var s: Scores;
      var seen = 0u;
      for (var c = 0u; c < STEP; c++) {
        let score = transform_score(row, cap_score(pair_score(row, weights[r][c], 0.0)), j + c);
        let is_seen = score.seen && j + c < task.end;
        s[c] = select(NONE, score.value, is_seen);
        seen |= select(0u, 1u, is_seen) << c;
      }
      let rescale = rescale_row(&sums, &s);
      if (rescale != 1.0) {
        for (var e = 0u; e < VALUE_VECTORS; e++) {
          o[r][e] *= rescale;
        }
      }
      weigh_scores(&sums, &s, seen, row, j);
      for (var c = 0u; c < STEP; c++) {
        weights[r][c] = s[c];
        all_weigh = all_weigh && s[c] != 0.0;
      }
      states[r] = sums;
    }

    // A value without weight is not added: it may be NaN.
    if (all_weigh) {
      add_values(task, j, &weights, &o, false);
    } else {
      add_values(task, j, &weights, &o, true);
    }
  }

  for (var r = 0u; r < OWN; r++) {
    let packed = first_packed + r;
    if (!is_row(packed)) {
      break;
    }
    let written = open_row(task, packed, states[r], task.chunk == 0u);
    for (var e = 0u; e < VALUE_VECTORS; e++) {
      write_vector(written, task.first_vector + e, o[r][e]);
    }
  }
}

fn add_values(task: Task, j: u32, weights: ptr<function, Weights>, o: ptr<function, Outputs>, masked: bool) {
  var value_at: array<u32, STEP>;
  for (var c = 0u; c < STEP; c++) { // unroll
    value_at[c] = task.values_at + min(j + c, P.keys - 1u) * P.v_j;
  }
  var w: Weights;
  for (var r = 0u; r < OWN; r++) { // unroll
    for (var c = 0u; c < STEP; c++) { // unroll
      w[r][c] = (*weights)[r][c];
    }
  }
  for (var e = 0u; e < VALUE_VECTORS; e++) {
    var v: array<vec4f, STEP>;
    for (var c = 0u; c < STEP; c++) { // unroll
      v[c] = load_v(value_at[c], (task.first_vector + e) * 4u, P.value_dim);
    }
    for (var r = 0u; r < OWN; r++) { // unroll
      var sum = vec4f();
      for (var c = 0u; c < STEP; c++) { // unroll
        sum += select(w[r][c] * v[c], vec4f(), masked && w[r][c] == 0.0);
      }
      (*o)[r][e] += sum;
    }
  }
}

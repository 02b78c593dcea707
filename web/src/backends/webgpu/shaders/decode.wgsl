// Decode kernel: online softmax for up to eight query rows that share the keys. Decode is memory-bound, so neighbouring threads read neighbouring
// vectors. Eight threads compute the QK^T of a key, then each thread weighs scores of one row, then each accumulates one vector of the output.

override ROWS: u32;
override VECTORS: u32;
override VALUE_VECTORS: u32;
override SOFTMAX: bool;
override ENTROPY: bool;

override THREADS: u32;
// Keys of a KV block.
override KEYS: u32;
// Keys that eight threads have at a time.
override OWN: u32;

const EIGHTS = THREADS / SHARING;
// The threads that weigh the scores of a row.
const ROW_THREADS = THREADS / ROWS;
const ROW_EIGHTS = ROW_THREADS / SHARING;
// Groups of threads that accumulate, each every so many-th key.
const KEY_GROUPS = THREADS / VALUE_VECTORS;

var<workgroup> queries: array<vec4f, ROWS * VECTORS>;
var<workgroup> scores: array<f32, ROWS * KEYS>;
var<workgroup> staged: array<vec4f, THREADS>;
var<workgroup> eights: array<vec4f, EIGHTS>;
var<workgroup> rescales: array<f32, ROWS>;
var<workgroup> states: array<RowState, ROWS>;

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
  let own_row = thread / ROW_THREADS;
  let own_key = thread % ROW_THREADS;
  let row = packed_row(task, own_row);
  for (var r = 0u; r < ROWS; r++) { // unroll
    let q_at = query_at(task, r);
    for (var d = thread; d < VECTORS; d += THREADS) {
      queries[r * VECTORS + d] = load_q(q_at, d * 4u, P.head_dim);
    }
  }
  let vector = thread % VALUE_VECTORS;
  let key_group = thread / VALUE_VECTORS;
  var sums = empty_state();
  var o: array<vec4f, ROWS>;
  workgroupBarrier();

  for (var first = task.begin; first < task.end; first += KEYS) {
    let count = min(KEYS, task.end - first);
    for (var at = 0u; at < count; at += EIGHTS * OWN) {
      var key_at: array<u32, OWN>;
      for (var c = 0u; c < OWN; c++) { // unroll
        key_at[c] = task.keys_at + min(first + at + thread / SHARING + c * EIGHTS, P.keys - 1u) * P.k_j;
      }
      // Tint sets a variable without an initializer to zero once, and not in each round of a loop.
      var totals = array<vec4f, ROWS>();
      for (var d = side; d < VECTORS; d += SHARING) {
        var k: array<vec4f, OWN>;
        for (var c = 0u; c < OWN; c++) { // unroll
          k[c] = load_k(key_at[c], d * 4u, P.head_dim);
        }
        for (var r = 0u; r < ROWS; r++) { // unroll
          let q = queries[r * VECTORS + d];
          totals[r] += vec4f(dot(q, k[0]), dot(q, k[1]), dot(q, k[2]), dot(q, k[3]));
        }
      }
      for (var r = 0u; r < ROWS; r++) { // unroll
        totals[r] = eight_sum(totals[r], thread, by_lanes);
      }
      if (side == 0u) {
        for (var r = 0u; r < ROWS; r++) { // unroll
          for (var c = 0u; c < OWN; c++) { // unroll
            scores[r * KEYS + at + thread / SHARING + c * EIGHTS] = totals[r][c];
          }
        }
      }
    }
    workgroupBarrier();

    var seen = 0u;
    var new_max = sums.row_max;
    for (var c = 0u; c < KEYS / ROW_THREADS; c++) {
      let key = own_key + c * ROW_THREADS;
      let at = own_row * KEYS + key;
      let score = transform_score(row, cap_score(pair_score(row, scores[at], 0.0)), first + key);
      let is_seen = score.seen && key < count;
      if (SOFTMAX) {
        let value = select(NONE, score.value, is_seen);
        scores[at] = value;
        new_max = select(new_max, value, value > new_max);
        seen |= select(0u, 1u, is_seen) << c;
      } else {
        scores[at] = kept_weight(select(0.0, plain_weight(score.value), is_seen), row, first + key);
      }
    }
    if (SOFTMAX) {
      new_max = row_maximum(new_max, own_row, thread, by_lanes);
      let rescale = select(exp(sums.row_max - new_max), 0.0, sums.row_max <= NONE);
      if (own_key == 0u) {
        rescales[own_row] = rescale;
      }
      if (ENTROPY) {
        sums.entropy_sum = select(rescale * (sums.entropy_sum + sums.row_sum * (sums.row_max - new_max)), 0.0, sums.row_max <= NONE);
      }
      sums.row_sum *= rescale;
      sums.row_max = new_max;
      for (var c = 0u; c < KEYS / ROW_THREADS; c++) {
        let key = own_key + c * ROW_THREADS;
        let at = own_row * KEYS + key;
        let is_seen = ((seen >> c) & 1u) == 1u;
        let below = scores[at] - new_max;
        let power = exp(below);
        let weight = select(0.0, select(power, SMALLEST_WEIGHT, power < SMALLEST_WEIGHT), is_seen);
        sums.row_sum += weight;
        if (ENTROPY) {
          sums.entropy_sum += select(0.0, weight * below, is_seen && !(below < -80.0));
        }
        scores[at] = kept_weight(weight, row, first + key);
      }
    }
    workgroupBarrier();

    if (key_group < KEY_GROUPS) {
      if (SOFTMAX) {
        for (var r = 0u; r < ROWS; r++) { // unroll
          o[r] *= rescales[r];
        }
      }
      for (var key = key_group; key < count; key += KEY_GROUPS) {
        let v = load_v(task.values_at + (first + key) * P.v_j, (task.first_vector + vector) * 4u, P.value_dim);
        for (var r = 0u; r < ROWS; r++) { // unroll
          let w = scores[r * KEYS + key];
          o[r] = select(o[r], fma(vec4f(w), v, o[r]), w != 0.0);
        }
      }
    }
    workgroupBarrier();
  }

  if (SOFTMAX) {
    let whole = row_total(vec4f(sums.row_sum, sums.entropy_sum, 0.0, 0.0), own_row, thread, by_lanes);
    sums.row_sum = whole.x;
    sums.entropy_sum = whole.y;
  }
  if (own_key == 0u) {
    states[own_row] = sums;
  }
  for (var r = 0u; r < ROWS; r++) { // unroll
    staged[thread] = o[r];
    workgroupBarrier();
    if (thread < VALUE_VECTORS) {
      for (var n = 1u; n < KEY_GROUPS; n++) {
        o[r] += staged[thread + n * VALUE_VECTORS];
      }
    }
    workgroupBarrier();
  }
  if (thread >= VALUE_VECTORS) {
    return;
  }
  for (var r = 0u; r < ROWS; r++) { // unroll
    if (is_row(r)) {
      let written = open_row(task, r, states[r], task.chunk == 0u && thread == 0u);
      write_vector(written, task.first_vector + thread, o[r]);
    }
  }
}

// The largest number of a row's threads. Before `eights` is written again there is a barrier of the caller.
fn row_maximum(own: f32, own_row: u32, thread: u32, by_lanes: bool) -> f32 {
  let eight = eight_max(vec4f(own), thread, by_lanes);
  if (thread % SHARING == 0u) {
    eights[thread / SHARING] = eight;
  }
  workgroupBarrier();
  var whole = own;
  for (var n = 0u; n < ROW_EIGHTS; n++) {
    let other = eights[own_row * ROW_EIGHTS + n].x;
    whole = select(whole, other, other > whole);
  }
  return whole;
}

fn row_total(own: vec4f, own_row: u32, thread: u32, by_lanes: bool) -> vec4f {
  let eight = eight_sum(own, thread, by_lanes);
  if (thread % SHARING == 0u) {
    eights[thread / SHARING] = eight;
  }
  workgroupBarrier();
  var whole = vec4f();
  for (var n = 0u; n < ROW_EIGHTS; n++) {
    whole += eights[own_row * ROW_EIGHTS + n];
  }
  return whole;
}

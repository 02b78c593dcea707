// Online softmax without workgroup tiles: a thread computes a row and reads K and V for itself. Where rows are few, SLICES threads share a row
// and combine at the end. This suits software adapters, and rows that are too long for the other kernels.

override ROWS: u32;
override SLICES: u32;
override STEP: u32;
override VALUE_VECTORS: u32;
override SLICED: bool;
override SOFTMAX: bool;

// Vectors of a thread that are combined between two barriers, which some compilers need long for.
const COMBINED_VECTORS = 4u;

alias Output = array<vec4f, VALUE_VECTORS>;

var<workgroup> combined: array<vec4f, ROWS * SLICES * COMBINED_VECTORS>;

@compute @workgroup_size(ROWS * SLICES)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let index = group_index(group);
  if (index >= P.groups) {
    return;
  }
  let task = task_of(index);
  let packed = task.row_tile * ROWS + thread % ROWS;
  let slice = thread / ROWS;
  let row = packed_row(task, packed);
  let q_at = query_at(task, packed);

  var o: Output;
  var s: Scores;
  var sums = empty_state();
  for (var first = task.begin; first < task.end; first += STEP * SLICES) {
    let j = first + slice * STEP;
    var seen = 0u;
    for (var c = 0u; c < STEP; c++) {
      let raw = score_at(row, q_at, task.keys_at + min(j + c, P.keys - 1u) * P.k_j);
      let score = transform_score(row, cap_score(raw), j + c);
      let is_seen = score.seen && j + c < task.end;
      s[c] = select(NONE, score.value, is_seen);
      seen |= select(0u, 1u, is_seen) << c;
    }
    let rescale = rescale_row(&sums, &s);
    if (rescale != 1.0) {
      for (var e = 0u; e < VALUE_VECTORS; e++) {
        o[e] *= rescale;
      }
    }
    weigh_scores(&sums, &s, seen, row, j);
    for (var c = 0u; c < STEP; c++) {
      let weight = s[c];
      // A value without weight is not read: it may be NaN.
      if (weight != 0.0) {
        let value_at = task.values_at + (j + c) * P.v_j;
        for (var e = 0u; e < VALUE_VECTORS; e++) {
          o[e] += weight * load_v(value_at, (task.first_vector + e) * 4u, P.value_dim);
        }
      }
    }
  }
  if (SLICED) {
    let rescale = combine_states(&sums, thread);
    combine_outputs(&o, rescale, thread);
  }
  if (!is_row(packed) || slice != 0u) {
    return;
  }
  let written = open_row(task, packed, sums, task.chunk == 0u);
  for (var e = 0u; e < VALUE_VECTORS; e++) {
    write_vector(written, task.first_vector + e, o[e]);
  }
}

// Combines the states of a row's threads, and returns what the thread's own output has to be multiplied by.
fn combine_states(sums: ptr<function, RowState>, thread: u32) -> f32 {
  var rescale = 1.0;
  if (SOFTMAX) {
    combined[thread] = vec4f((*sums).row_max, (*sums).row_sum, (*sums).entropy_sum, 0.0);
    workgroupBarrier();
    var row_max = NONE;
    for (var t = 0u; t < SLICES; t++) {
      let other = combined[thread % ROWS + t * ROWS].x;
      row_max = select(row_max, other, other > row_max);
    }
    var whole = RowState(row_max, 0.0, 0.0);
    for (var t = 0u; t < SLICES; t++) {
      let other = combined[thread % ROWS + t * ROWS];
      let factor = select(exp(other.x - row_max), 0.0, other.x <= NONE);
      whole.entropy_sum += select(factor * (other.z + other.y * (other.x - row_max)), 0.0, other.x <= NONE);
      whole.row_sum += select(factor * other.y, 0.0, other.y == 0.0);
    }
    rescale = select(exp((*sums).row_max - row_max), 0.0, (*sums).row_max <= NONE);
    *sums = whole;
  }
  return rescale;
}

// Adds the outputs of a row's threads; the first of them has the sum.
fn combine_outputs(o: ptr<function, Output>, rescale: f32, thread: u32) {
  for (var first = 0u; first < VALUE_VECTORS; first += COMBINED_VECTORS) {
    workgroupBarrier();
    for (var n = 0u; n < min(COMBINED_VECTORS, VALUE_VECTORS - first); n++) {
      combined[thread * COMBINED_VECTORS + n] = (*o)[first + n] * rescale;
    }
    workgroupBarrier();
    if (thread < ROWS) {
      for (var n = 0u; n < min(COMBINED_VECTORS, VALUE_VECTORS - first); n++) {
        var sum = vec4f();
        for (var t = 0u; t < SLICES; t++) {
          sum += combined[(thread + t * ROWS) * COMBINED_VECTORS + n];
        }
        (*o)[first + n] = sum;
      }
    }
  }
}

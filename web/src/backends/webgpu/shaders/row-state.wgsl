// What a row has gathered: row max, row sum, and the sum of the exponentials times their distance to the row max.

override SOFTMAX: bool;

struct RowState {
  row_max: f32,
  row_sum: f32,
  entropy_sum: f32,
}

fn empty_state() -> RowState {
  if (SOFTMAX) {
    return RowState(NONE, 0.0, 0.0);
  } else {
    return RowState(0.0, 1.0, 0.0);
  }
}

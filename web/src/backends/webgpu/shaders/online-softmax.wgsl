// A step of the online softmax, in a thread that has whole rows: STEP scores become weights. `seen` has a bit for each of them.

override STEP: u32;
override SOFTMAX: bool;
override ENTROPY: bool;

alias Scores = array<f32, STEP>;

// Raises the row max, and returns what the output has to be multiplied by. NaN is greater than nothing, so it never becomes the
// row max: it makes the row sum NaN, and so the results of the row.
fn rescale_row(sums: ptr<function, RowState>, s: ptr<function, Scores>) -> f32 {
  var rescale = 1.0;
  if (SOFTMAX) {
    let before = (*sums).row_max;
    var row_max = before;
    for (var c = 0u; c < STEP; c++) {
      row_max = select(row_max, (*s)[c], (*s)[c] > row_max);
    }
    if (row_max > before) {
      rescale = select(exp(before - row_max), 0.0, before <= NONE);
      if (ENTROPY) {
        (*sums).entropy_sum = select(rescale * ((*sums).entropy_sum + (*sums).row_sum * (before - row_max)), 0.0, before <= NONE);
      }
      (*sums).row_sum *= rescale;
      (*sums).row_max = row_max;
    }
  }
  return rescale;
}

fn weigh_scores(sums: ptr<function, RowState>, s: ptr<function, Scores>, seen: u32, row: Row, j: u32) {
  for (var c = 0u; c < STEP; c++) {
    let is_seen = ((seen >> c) & 1u) == 1u;
    if (SOFTMAX) {
      let below = (*s)[c] - (*sums).row_max;
      let power = exp(below);
      let weight = select(0.0, select(power, SMALLEST_WEIGHT, power < SMALLEST_WEIGHT), is_seen);
      (*sums).row_sum += weight;
      if (ENTROPY) {
        (*sums).entropy_sum += select(0.0, weight * below, is_seen && !(below < -80.0));
      }
      (*s)[c] = kept_weight(weight, row, j + c);
    } else {
      (*s)[c] = kept_weight(select(0.0, plain_weight((*s)[c]), is_seen), row, j + c);
    }
  }
}

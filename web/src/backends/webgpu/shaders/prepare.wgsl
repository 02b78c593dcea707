// Prepares rows of the query or of K, once a call: what of a score function concerns one of them alone.

struct Prepared {
  h: u32,
  x_at: u32,
  made_at: u32,
}

fn prepared_row(row: u32) -> Prepared {
  let l = row % P.length;
  let h = (row / P.length) % P.heads;
  let b = row / P.length / P.heads;
  let x_at = b * P.source_b + (h / P.source_group) * P.source_h + l * P.source_l;
  return Prepared(h, x_at, row * P.row_stride);
}

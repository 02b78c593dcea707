// Writes the partial results (m, l, O) of a KV split, for the combine kernel.

struct OutputRow {
  at: u32,
}

fn open_row(task: Task, packed: u32, state: RowState, writes: bool) -> OutputRow {
  let at = (task.split * P.rows + row_number(task, packed)) * P.partial_width;
  if (writes) {
    partials[at] = vec4f(state.row_max, state.row_sum, state.entropy_sum, 0.0);
  }
  return OutputRow(at + 1u);
}

fn write_vector(row: OutputRow, vector: u32, value: vec4f) {
  partials[row.at + vector] = value;
}

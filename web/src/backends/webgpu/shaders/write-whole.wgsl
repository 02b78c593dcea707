// Writes rows whose keys the workgroup has all seen.

struct OutputRow {
  at: u32,
  factor: f32,
}

fn open_row(task: Task, packed: u32, state: RowState, writes: bool) -> OutputRow {
  let h = head_of(task, packed);
  let at = task.b * P.out_b + h * P.out_h + position_of(packed) * P.out_i;
  return OutputRow(at, row_epilogue(state, h, row_number(task, packed), writes));
}

fn write_vector(row: OutputRow, vector: u32, value: vec4f) {
  write_output(row.at, vector * 4u, value * row.factor);
}

// Copies rows, and writes in a vector behind each what it adds to the gate. A thread computes a row.

override WORKGROUP: u32;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let index = group_index(group) * WORKGROUP + thread;
  if (index >= P.rows) {
    return;
  }
  let row = prepared_row(index);
  var gate = matrix[P.offset_at + row.h * P.offset_h];
  for (var d = 0u; d < P.row_stride - 4u; d += 4u) {
    let x = load_x(row.x_at, d, P.dim);
    for (var n = 0u; n < 4u; n++) {
      made[row.made_at + d + n] = x[n];
      if (d + n < P.dim) {
        gate += x[n] * matrix[row.h * P.matrix_h + d + n];
      }
    }
  }
  made[row.made_at + P.row_stride - 4u] = gate;
  for (var n = 1u; n < 4u; n++) {
    made[row.made_at + P.row_stride - 4u + n] = 0.0;
  }
}

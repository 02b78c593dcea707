// Projects rows. A thread computes an element.

override TRANSPOSED: bool;
override IDENTITY: bool;
override OFFSET: bool;
override WORKGROUP: u32;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let index = group_index(group) * WORKGROUP + thread;
  if (index >= P.rows * P.row_stride) {
    return;
  }
  let row = prepared_row(index / P.row_stride);
  let c = index % P.row_stride;
  var sum = 0.0;
  if (c < P.made_dim) {
    if (IDENTITY) {
      sum = load_x(row.x_at, c & ~3u, P.dim)[c & 3u];
    } else {
      for (var first = 0u; first < P.dim; first += 4u) {
        let x = load_x(row.x_at, first, P.dim);
        for (var n = 0u; n < 4u; n++) {
          let d = first + n;
          if (d < P.dim) {
            sum += x[n] * matrix[row.h * P.matrix_h + select(c * P.dim + d, d * P.made_dim + c, TRANSPOSED)];
          }
        }
      }
    }
    if (OFFSET) {
      sum += matrix[P.offset_at + row.h * P.offset_h + c];
    }
  }
  made[row.made_at + c] = sum;
}

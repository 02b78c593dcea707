// Makes rows of length one. A thread computes a row. Its length is that of the row divided by the largest element, so that squares neither
// overflow nor vanish.

override WORKGROUP: u32;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let index = group_index(group) * WORKGROUP + thread;
  if (index >= P.rows) {
    return;
  }
  let row = prepared_row(index);
  var largest = vec4f();
  for (var d = 0u; d < P.dim; d += 4u) {
    largest = max(largest, abs(load_x(row.x_at, d, P.dim)));
  }
  let row_max = max(max(largest.x, largest.y), max(largest.z, largest.w));
  let inverse = select(1.0 / row_max, 0.0, row_max == 0.0);
  var squares = vec4f();
  for (var d = 0u; d < P.dim; d += 4u) {
    let x = load_x(row.x_at, d, P.dim) * inverse;
    squares += x * x;
  }
  let length = sqrt(dot(squares, vec4f(1.0)));
  // A row shorter than 2^-126 has no direction.
  let factor = select(1.0 / length, 0.0, row_max * length < 0x1p-126f);
  for (var d = 0u; d < P.row_stride; d += 4u) {
    let x = select(vec4f(), load_x(row.x_at, d, P.dim) * inverse * factor, vec4<bool>(d < P.dim));
    for (var n = 0u; n < 4u; n++) {
      made[row.made_at + d + n] = x[n];
    }
  }
}

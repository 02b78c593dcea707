// Combines the partial results (m, l, O) of the KV splits by one more step of the online softmax. A thread computes a vector of an output row.

override SOFTMAX: bool;
override WORKGROUP: u32;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let vectors = (P.value_dim + 3u) / 4u;
  let index = group_index(group) * WORKGROUP + thread;
  if (index >= P.rows * vectors) {
    return;
  }
  let row = index / vectors;
  let vector = index % vectors;
  let i = row % P.queries;
  let h = (row / P.queries) % P.heads;
  let b = row / P.queries / P.heads;
  var sums = empty_state();
  if (SOFTMAX) {
    for (var split = 0u; split < P.splits; split++) {
      let row_max = partials[(split * P.rows + row) * P.partial_width].x;
      sums.row_max = select(sums.row_max, row_max, row_max > sums.row_max);
    }
  }
  var output = vec4f();
  for (var split = 0u; split < P.splits; split++) {
    let at = (split * P.rows + row) * P.partial_width;
    if (SOFTMAX) {
      let partial = partials[at];
      if (partial.y != 0.0) {
        let rescale = exp(partial.x - sums.row_max);
        sums.entropy_sum += rescale * (partial.z + partial.y * (partial.x - sums.row_max));
        sums.row_sum += rescale * partial.y;
        output += rescale * partials[at + 1u + vector];
      }
    } else {
      output += partials[at + 1u + vector];
    }
  }
  let factor = row_epilogue(sums, h, row, vector == 0u);
  write_output(b * P.out_b + h * P.out_h + i * P.out_i, vector * 4u, output * factor);
}

// Rotary embedding. A thread computes an element of a rotated pair from both elements of the pair.

override INTERLEAVED: bool;
override INVERSE: bool;
override WORKGROUP: u32;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let index = group_index(group) * WORKGROUP + thread;
  if (index >= P.elements) {
    return;
  }
  let d = index % P.dim;
  let l = (index / P.dim) % P.length;
  let h = (index / P.dim / P.length) % P.heads;
  let b = index / P.dim / P.length / P.heads;
  let input_at = b * P.input_b + h * P.input_h + l * P.input_l;
  let own = element_of_x(input_at, d, P.dim);
  var result = own;
  if (d < P.rotary_dim) {
    let pairs = P.rotary_dim / 2u;
    let is_second = select(d >= pairs, (d & 1u) == 1u, INTERLEAVED);
    let other_d = select(select(d + pairs, d - pairs, is_second), d ^ 1u, INTERLEAVED);
    let other = element_of_x(input_at, other_d, P.dim);
    let angle_at = positions[b * P.positions_b + l] * pairs + select(d % pairs, d / 2u, INTERLEAVED);
    let sine = select(sines[angle_at], -sines[angle_at], INVERSE);
    result = own * cosines[angle_at] + select(-other, other, is_second) * sine;
  }
  rotated[b * P.output_b + h * P.output_h + l * P.output_l + d] = result;
}

// Reads an operand x of any layout: elements d to d + 3 of the row that starts at `row`, with zeros from dim on. The composer writes the operand's name for x.

// A u32 holds two f16.
override PACKED_X: bool;

// WebGPU clamps a read beyond the buffer, and its result is not used.
fn element_of_x(row: u32, d: u32, dim: u32) -> f32 {
  let at = row + d;
  if (PACKED_X) {
    let pair = unpack2x16float(x_data[at >> 1u]);
    return select(0.0, select(pair.x, pair.y, (at & 1u) == 1u), d < dim);
  } else {
    return select(0.0, f32(x_data[at]), d < dim);
  }
}

fn load_x(row: u32, d: u32, dim: u32) -> vec4f {
  return vec4f(element_of_x(row, d, dim), element_of_x(row, d + 1u, dim), element_of_x(row, d + 2u, dim), element_of_x(row, d + 3u, dim));
}

// Reads an operand x whose rows start at multiples of four elements and are multiples of four long: elements d to d + 3 of the row that starts at
// `row`. The composer writes the operand's name for x.

// A u32 holds two f16.
override PACKED_X: bool;

fn load_x(row: u32, d: u32, dim: u32) -> vec4f {
  let vector = x_data[(row + d) >> 2u];
  if (PACKED_X) {
    return vec4f(unpack2x16float(vector.x), unpack2x16float(vector.y));
  } else {
    return vec4f(vector);
  }
}

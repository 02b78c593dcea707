// The floor of a quotient, for expressions. A division may be off by some units in the last place, and then its floor by one.

fn floor_div(a: f32, b: f32) -> f32 {
  let quotient = floor(a / b);
  let rest = (a - quotient * b) * sign(b);
  return quotient + select(0.0, 1.0, rest >= abs(b)) - select(0.0, 1.0, rest < 0.0);
}

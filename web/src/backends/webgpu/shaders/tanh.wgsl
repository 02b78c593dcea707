// WGSL grants its own tanh an absolute error of 1e-5. Below 0.625 this is Cephes' polynomial, and beyond it the exponential.

fn tanh_f32(x: f32) -> f32 {
  let a = abs(x);
  let z = x * x;
  let low = x + x * z * ((((-5.70498872745e-3 * z + 2.06390887954e-2) * z - 5.37397155531e-2) * z + 1.33314422036e-1) * z - 3.33332819422e-1);
  let bounded = select(a, f32(15.0), a > f32(15.0));
  let high = 1.0 - 2.0 / (exp(2.0 * bounded) + 1.0);
  return select(select(high, -high, x < f32(0.0)), low, a < f32(0.625));
}

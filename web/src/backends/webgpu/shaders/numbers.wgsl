// Numbers that stand for special scores. A compiler may assume that there is neither NaN nor infinity, so no shader compares with one:
// a score is a number and a flag.

const NONE = -3.0e38;
const BIAS_LIMIT = 2.3e38;
const SMALLEST_WEIGHT = 0x1p-80f;
const MINUS_INFINITY = 0xff800000u;

fn bits_of(value: f32) -> u32 {
  return bitcast<u32>(value);
}

fn float_at(at: u32) -> f32 {
  return bitcast<f32>(tables[at]);
}

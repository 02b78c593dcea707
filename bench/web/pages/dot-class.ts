// What a processor does for a relaxed dot product of bytes, by what it gives for numbers beyond the range that engines agree on.

/** (func (export "dot") (param i32 i32) (result i32)): one lane of i32x4.relaxed_dot_i8x16_i7x16_add_s of two splats and zeros. */
const MODULE = Uint8Array.of(
  ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
  ...[0x01, 0x07, 0x01, 0x60, 0x02, 0x7f, 0x7f, 0x01, 0x7f],
  ...[0x03, 0x02, 0x01, 0x00],
  ...[0x07, 0x07, 0x01, 0x03, 0x64, 0x6f, 0x74, 0x00, 0x00],
  ...[0x0a, 0x16, 0x01, 0x14, 0x00],
  ...[0x20, 0x00, 0xfd, 0x0f, 0x20, 0x01, 0xfd, 0x0f, 0x41, 0x00, 0xfd, 0x11],
  ...[0xfd, 0x93, 0x02, 0xfd, 0x1b, 0x00, 0x0b],
);

/** Four products of -128 and of a byte with all bits set: -1, or 255. */
const CLASSES: Readonly<Record<number, string>> = {
  512: "signed (sdot, vpdpbssd)",
  [-130560]: "unsigned (vpdpbusd)",
  [-65536]: "unsigned, pairs saturate (vpmaddubsw)",
};

export function dotClass(): string {
  if (!WebAssembly.validate(MODULE)) return "no relaxed SIMD";
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(MODULE));
  // The module is written above.
  const dot = exports["dot"] as (a: number, b: number) => number;
  const found = dot(-128, -1);
  return CLASSES[found] ?? `unknown (${found})`;
}

// f32, as it is.

import type { Format } from "./format.js";

export const F32: Format<"f32"> = {
  name: "f32",
  numbers: 1,
  bytes: 4,
  array: ({ buffer, byteOffset, length }) => new Float32Array(buffer, byteOffset, length / 4),
  dequantize(data) {
    const { buffer, byteOffset, length } = data.byteOffset % 4 === 0 ? data : data.slice();
    return new Float32Array(buffer as ArrayBuffer, byteOffset, length / 4);
  },
};

// Rows of numbers as whole numbers of eight bits, each row times a scale of its own.

/** The most that a number of eight bits is used for: as many above zero as below. */
const LARGEST = 127;

/**
 * bytes * scale is within half a scale of what was given, and a scale is the largest number of its row / 127. False where a number
 * is not finite, which no scale can help.
 */
export function quantiseRows(rows: Float32Array, dim: number, bytes: Int8Array, scales: Float32Array): boolean {
  for (let row = 0, first = 0; first < rows.length; row++, first += dim) {
    let largest = 0;
    for (let i = first; i < first + dim; i++) {
      const size = Math.abs(rows[i] ?? 0);
      // Written so that NaN is larger than anything.
      if (!(size <= largest)) largest = size;
      if (!(size < Number.POSITIVE_INFINITY)) return false;
    }
    const scale = Math.fround(largest / LARGEST);
    scales[row] = scale;
    // Rows so small that their scale vanishes are zeros.
    const inverse = scale === 0 ? 0 : 1 / scale;
    for (let i = first; i < first + dim; i++) {
      const whole = Math.round((rows[i] ?? 0) * inverse);
      bytes[i] = Math.max(-LARGEST, Math.min(LARGEST, whole));
    }
  }
  return true;
}

// How the elements write and read numbers: a true minus sign, a sign for infinity, and a short exact zero.

/** Two decimals, at most five characters wide. */
export function formatNumber(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value < 0 ? "−∞" : "∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
  return (/^-0(?:\.0*)?$/.test(text) ? text.slice(1) : text).replace("-", "−");
}

/** A share as a percentage. */
export function formatShare(share: number): string {
  return share > 0 && share < 0.005 ? "<1\u00a0%" : `${(share * 100).toFixed(0)}\u00a0%`;
}

/** The fewest digits that are read back as the same f32 number. */
export function formatSingle(value: number): string {
  const single = Math.fround(value);
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === single) return String(short);
  }
  return String(Number(value.toPrecision(9)));
}

/** Cells and fields take numbers up to this size. */
export const LARGEST_TYPED = 1e4;
/** What `parseNumber` takes, in words. */
export const WHAT_IS_TYPED = "Numbers from −10,000 to 10,000.";

/** Reads what a person typed, with a comma or a point, and a true minus or a hyphen. Null for anything else. */
export function parseNumber(text: string): number | null {
  const clean = text.trim().replace("−", "-").replace(",", ".");
  if (clean === "" || !/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(clean)) return null;
  const value = Number(clean);
  return Math.abs(value) <= LARGEST_TYPED ? value : null;
}

// How the elements write and read numbers: a true minus sign, infinity as a sign, exact zeros short.

/** Two decimals, at most five signs wide. */
export function formatNumber(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value < 0 ? "−∞" : "∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
  return (/^-0(?:\.0*)?$/.test(text) ? text.slice(1) : text).replace("-", "−");
}

export function formatShare(share: number): string {
  return share > 0 && share < 0.005 ? "<1\u00a0%" : `${(share * 100).toFixed(0)}\u00a0%`;
}

/** What a person typed: a comma or a point, a true minus or a hyphen; null for anything else. */
export function parseNumber(text: string): number | null {
  const clean = text.trim().replace("−", "-").replace(",", ".");
  if (clean === "" || !/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(clean)) return null;
  const value = Number(clean);
  return Math.abs(value) <= 1e4 ? value : null;
}

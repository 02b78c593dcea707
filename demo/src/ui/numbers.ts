// How numbers are written on the page: a true minus sign, infinity as a sign, exact zeros short.

/** For cells: two decimals, at most five signs wide. */
export function short(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value < 0 ? "−∞" : "∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  return minus(value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2));
}

/** For arithmetic: four decimals, without needless zeros. */
export function exact(value: number, decimals = 4): string {
  if (!Number.isFinite(value)) return short(value);
  const text = value.toFixed(decimals);
  return minus(text.includes(".") ? text.replace(/\.?0+$/, "") : text);
}

export function percent(share: number): string {
  return share > 0 && share < 0.005 ? "<1 %" : `${(share * 100).toFixed(0)} %`;
}

/** One significant digit and its power of ten: 6e-8 as 6 × 10⁻⁸. */
export function magnitude(value: number): string {
  if (value === 0) return "0";
  if (Number.isNaN(value)) return "NaN";
  const [digits, power] = value.toExponential(0).split("e");
  const raised = Array.from(String(Number(power)), (sign) => SUPERSCRIPT[sign] ?? sign).join("");
  return `${digits} × 10${raised}`;
}

/** A difference: in decimals where one can see it, else as a power of ten. */
export function apart(value: number): string {
  return value >= 0.005 ? exact(value, 2) : magnitude(value);
}

const SUPERSCRIPT: Readonly<Record<string, string>> = {
  "-": "⁻",
  "0": "⁰",
  "1": "¹",
  "2": "²",
  "3": "³",
  "4": "⁴",
  "5": "⁵",
  "6": "⁶",
  "7": "⁷",
  "8": "⁸",
  "9": "⁹",
};

function minus(text: string): string {
  const clean = /^-0(?:\.0*)?$/.test(text) ? text.slice(1) : text;
  return clean.replace("-", "−");
}

/** Reads what a person typed: a comma or a point, a true minus or a hyphen. */
export function parseNumber(text: string): number | null {
  const clean = text.trim().replace("−", "-").replace(",", ".");
  if (clean === "" || !/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(clean)) return null;
  const value = Number(clean);
  return Math.abs(value) <= 1e4 ? value : null;
}

// How numbers are written on the page: a true minus sign, infinity as a sign, exact zeros short.

import { formatNumber } from "heed/viz";

export { formatNumber as short, formatShare as percent, formatSingle as single, parseNumber } from "heed/viz";

/** For arithmetic: four decimals, without needless zeros. */
export function exact(value: number, decimals = 4): string {
  if (!Number.isFinite(value)) return formatNumber(value);
  const text = value.toFixed(decimals);
  return minus(text.includes(".") ? text.replace(/\.?0+$/, "") : text);
}

/** As exact, but with a power of ten where that would hardly leave a digit: shares and powers of e are often so small. */
export function small(value: number, decimals = 4): string {
  if (value === 0 || Math.abs(value) >= 0.0001 || !Number.isFinite(value)) return exact(value, decimals);
  return value.toExponential(decimals - 3).replaceAll("-", "−");
}

/** 16777216 as 16,777,216; many times faster than what a locale makes of it. */
export const whole = (value: number): string => String(Math.round(value)).replace(/\B(?=(?:\d{3})+$)/g, ",");

const UNITS = ["bytes", "kB", "MB", "GB", "TB"] as const;

/** With three digits. */
export function bytes(count: number): string {
  const step = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, count)) / 3)));
  return `${Number((count / 1000 ** step).toPrecision(3))} ${UNITS[step]}`;
}

/** One significant digit and its power of ten, on one line: 6e-8 as 6 × 10⁻⁸. */
export function magnitude(value: number): string {
  if (value === 0) return "0";
  if (!Number.isFinite(value)) return String(value);
  const [digits, power] = value.toExponential(0).split("e");
  const raised = Array.from(String(Number(power)), (sign) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(sign)] ?? "⁻").join("");
  return `${digits}\u00a0×\u00a010${raised}`;
}

/** The decimals to which numbers agree that are less than 0.05 apart: at most half of the last one. "to 6 decimals". */
export function agreeing(apart: number): string {
  const decimals = Math.floor(-Math.log10(2 * apart));
  return decimals === 1 ? "to 1 decimal" : `to ${decimals} decimals`;
}

/** "8.8 × 0.353553 = 3.1113"; "≈" where the figures as they are written give another last digit. */
export function timesTold([first = 1, ...factors]: readonly number[], result: number): string {
  const told = [small(first), ...factors.map((factor) => small(factor, 6))];
  const written = told.reduce((product, figure) => product * Number(figure.replaceAll("−", "-")), 1);
  return `${told.join(" × ")} ${small(written) === small(result) ? "=" : "≈"} ${small(result)}`;
}

/** A difference: in decimals where one can see it, else as a power of ten. */
export const apart = (value: number): string => (value >= 0.005 ? exact(value, 2) : magnitude(value));

function minus(text: string): string {
  const clean = /^-0(?:\.0*)?$/.test(text) ? text.slice(1) : text;
  return clean.replace("-", "−");
}

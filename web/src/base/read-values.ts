// Readers of single values from the caller: each returns the value with its type, or throws a HeedError that names it.

import { showValue } from "./describe.js";
import { HeedError } from "./errors.js";
import { didYouMean } from "./suggest.js";
import { isFloat32Array } from "./typed-array.js";

/** `attention: scale must be a finite number, got "1"` */
export function refusal(where: string, name: string, rule: string, value: unknown, hint = ""): HeedError {
  return new HeedError("option", `${where}: ${name} must be ${rule}, got ${showValue(value)}${hint}`);
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/** An options object without unknown names. `undefined` counts as an empty one. `elsewhere`: what others call the options. */
export function readRecord(
  where: string,
  what: string,
  value: unknown,
  names: readonly string[],
  elsewhere?: Readonly<Record<string, string>>,
): Readonly<Record<string, unknown>> {
  if (value === undefined) return {};
  if (!isOptions(value)) {
    throw refusal(where, what, "an object", value);
  }
  for (const name of Object.keys(value)) {
    if (names.includes(name) || value[name] === undefined) continue;
    const near = didYouMean(name, names, elsewhere);
    throw new HeedError("option", `${where}: ${what} has no option ${showValue(name)}${near}`);
  }
  return value;
}

/** Whether a value can hold options: an object of any prototype, but not a Map or another container, which would look empty. */
export function isOptions(value: unknown): value is Readonly<Record<string, unknown>> {
  return isRecord(value) && Object.prototype.toString.call(value) === "[object Object]";
}

/** A finite number, or the default where it is absent. */
export function readFinite<D>(where: string, name: string, value: unknown, absent: D): number | D {
  if (value === undefined) return absent;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw refusal(where, name, "a finite number", value);
}

export function readPositive(where: string, name: string, value: unknown, absent: number): number {
  const number = readFinite(where, name, value, absent);
  if (number > 0) return number;
  throw refusal(where, name, "greater than 0", value);
}

/** A whole number from `least` to `most`, or the default where it is absent. */
export function readCount<D>(
  where: string,
  name: string,
  value: unknown,
  absent: D,
  most: number = 2 ** 31 - 1,
  least = 1,
): number | D {
  if (value === undefined) return absent;
  if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most) return value;
  throw refusal(where, name, `a whole number, ${least} or more, up to ${most}`, value);
}

export function readBoolean(where: string, name: string, value: unknown, absent: boolean): boolean {
  if (value === undefined) return absent;
  if (typeof value === "boolean") return value;
  throw refusal(where, name, "true or false", value);
}

/** One of `choices`. */
export function readChoice<C extends string>(
  where: string,
  name: string,
  value: unknown,
  choices: readonly C[],
  absent: C,
): C {
  if (value === undefined) return absent;
  for (const choice of choices) if (choice === value) return choice;
  const list = choices.map((choice) => `"${choice}"`).join(", ");
  const near = typeof value === "string" ? didYouMean(value, choices) : "";
  throw refusal(where, name, `one of ${list}`, value, near);
}

/** A Float32Array; null where it is absent. */
export function readOut(where: string, name: string, value: unknown): Float32Array | null {
  if (value === undefined) return null;
  if (isFloat32Array(value)) return value;
  throw new HeedError("dtype", `${where}: ${name} must be a Float32Array, got ${showValue(value)}`);
}

/** An AbortSignal of any realm; null where it is absent. */
export function readSignal(where: string, value: unknown): AbortSignal | null {
  if (value === undefined) return null;
  if (isSignal(value)) return value;
  throw refusal(where, "signal", "an AbortSignal", value);
}

function isSignal(value: unknown): value is AbortSignal {
  if (!isRecord(value) || typeof value["aborted"] !== "boolean") return false;
  return typeof value["addEventListener"] === "function" && typeof value["removeEventListener"] === "function";
}

/** For calls that have not begun to compute. */
export function throwIfAborted(where: string, signal: AbortSignal | null): void {
  if (signal?.aborted) {
    throw new HeedError("aborted", `${where}: the signal was aborted before the call`, { cause: signal.reason });
  }
}

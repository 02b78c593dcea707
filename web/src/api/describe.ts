// How values appear in error messages: briefly, whatever their size. These functions never throw.

import { typedArrayName } from "./typed-array.js";

/** How many sizes of a shape are shown. */
const SHOWN = 8;

/** `[1, 4, 96, 64]` */
export function showShape(shape: readonly unknown[]): string {
  try {
    const shown = shape
      .slice(0, SHOWN)
      .map((size) => (Array.isArray(size) ? `an array of ${size.length}` : showValue(size)));
    return shape.length <= SHOWN ? `[${shown.join(", ")}]` : `[${shown.join(", ")}, ... ${shape.length} in all]`;
  } catch {
    return UNREADABLE;
  }
}

/** A short text of any value: quotes strings, names classes, never calls user code other than a constructor's name. */
export function showValue(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(cut(value));
  if (["bigint", "function", "symbol"].includes(typeof value)) return `a ${typeof value}`;
  if (typeof value !== "object" || value === null) return String(value);
  try {
    if (Array.isArray(value)) return value.length <= SHOWN ? showShape(value) : `an array of ${value.length}`;
  } catch {
    return UNREADABLE;
  }
  return showClass(value);
}

/** An object by its class: `a Float32Array`, `an Object`. */
export function showClass(value: object): string {
  const name = className(value);
  return `${/^[AEIOaeio]/.test(name) ? "an" : "a"} ${name}`;
}

function className(value: object): string {
  try {
    const name: unknown = typedArrayName(value) ?? value.constructor?.name;
    return typeof name === "string" && name !== "" ? cut(name) : "object";
  } catch {
    return "object";
  }
}

const UNREADABLE = "an object that cannot be read";

function cut(text: string): string {
  return text.length > 40 ? `${text.slice(0, 37)}...` : text;
}

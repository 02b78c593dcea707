// How values appear in error messages: briefly, whatever their size. These functions never throw.

import { typedArrayName } from "./typed-array.js";

/** How many sizes of a shape are shown. */
const SHOWN = 8;

/** `[1, 4, 96, 64]` */
export function showShape(shape: readonly unknown[]): string {
  return show(() => {
    const shown = shape.slice(0, SHOWN).map((size) => (Array.isArray(size) ? showLength(size) : showValue(size)));
    return `[${shown.join(", ")}${shape.length > SHOWN ? `, ... ${shape.length} in all` : ""}]`;
  });
}

/** A short text of any value: quotes strings, names classes, never calls user code other than a constructor's name. */
export function showValue(value: unknown): string {
  return show(() => {
    if (Array.isArray(value)) return value.length > SHOWN ? showLength(value) : showShape(value);
    if (typeof value === "string") return JSON.stringify(cut(value));
    if (typeof value === "object" && value !== null) return showClass(value);
    return ["bigint", "function", "symbol"].includes(typeof value) ? `a ${typeof value}` : String(value);
  });
}

/** An object by its class: `a Float32Array`, `an Object`. */
export function showClass(value: object): string {
  return show(() => {
    const name: unknown = typedArrayName(value) ?? value.constructor?.name;
    const shown = typeof name === "string" && name !== "" ? cut(name) : "object";
    return `${/^[AEIO]/i.test(shown) ? "an" : "a"} ${shown}`;
  });
}

const showLength = (array: readonly unknown[]): string => `an array of ${array.length}`;

/** Reading an object may run code of the caller. */
function show(text: () => string): string {
  try {
    return text();
  } catch {
    return "an object that cannot be read";
  }
}

function cut(text: string): string {
  return text.length > 40 ? `${text.slice(0, 37)}...` : text;
}

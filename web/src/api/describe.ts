// How values appear in error messages. Never throws, whatever it is given.

/** `[1, 4, 96, 64]` */
export function showShape(shape: readonly unknown[]): string {
  return `[${shape.map(showValue).join(", ")}]`;
}

/** A short text of any value: quotes strings, names classes, never calls user code other than a constructor's name. */
export function showValue(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.length > 40 ? `${value.slice(0, 37)}...` : value);
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "function") return "a function";
  if (typeof value === "symbol") return "a symbol";
  if (typeof value !== "object" || value === null) return String(value);
  if (Array.isArray(value)) return value.length <= 8 ? showShape(value) : `an array of ${value.length}`;
  return `a ${className(value)}`;
}

/** The class name of an object: `Float32Array`, `Object`. */
export function className(value: object): string {
  const name: unknown = value.constructor?.name;
  return typeof name === "string" && name !== "" ? name : "object";
}

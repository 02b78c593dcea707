// Readers of layers' options beside those of the API.

import { HeedError } from "../api/errors.js";

/** What was read, where it must not be absent. */
export function required<T>(where: string, name: string, value: T | null): T {
  if (value !== null) return value;
  throw new HeedError("option", `${where}: ${name} must be given`);
}

/** One of the parts of a shape must divide another. */
export function checkDivides(where: string, name: string, count: number, of: string, whole: number): void {
  if (whole % count === 0) return;
  throw new HeedError("option", `${where}: ${of} must be a multiple of ${name}, got ${whole} and ${count}`);
}

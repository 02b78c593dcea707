// Runs code that reads values of the caller: whatever it throws becomes a HeedError. heed/expr has this guard of its own, because the index
// shares only the class HeedError with it.

import { HeedError } from "../base/errors.js";

export function reading<T>(doing: string, act: () => T): T {
  try {
    return act();
  } catch (cause) {
    // A revoked proxy can be thrown too, and `instanceof` throws on it.
    const isKnown = attempt(() => cause instanceof HeedError);
    const text = attempt(() => String(Object(cause).message));
    throw isKnown
      ? cause
      : new HeedError("option", `${doing} failed: ${text ?? "its reason cannot be read"}`, { cause });
  }
}

function attempt<T>(act: () => T): T | null {
  try {
    return act();
  } catch {
    return null;
  }
}

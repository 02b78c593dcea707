// What reads values of a user's: whatever it throws becomes a HeedError. Of api/errors.ts it takes the one name that an entry shows.

import { HeedError } from "../api/errors.js";

export function reading<T>(doing: string, act: () => T): T {
  try {
    return act();
  } catch (cause) {
    // A revoked proxy can be thrown, too, and has no class to ask for.
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

// What leaves heed's functions is a HeedError: user code runs inside them (getters, proxies), and engines run out of room.

import { causeText, HeedError, type HeedErrorCode } from "./errors.js";

/** Runs a step of a public function; anything else that it throws becomes a HeedError with this code. */
export function step<T>(code: HeedErrorCode, doing: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw asHeedError(code, doing, error);
  }
}

/** The same for one that takes time. */
export async function asyncStep<T>(code: HeedErrorCode, doing: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw asHeedError(code, doing, error);
  }
}

function asHeedError(code: HeedErrorCode, doing: string, cause: unknown): unknown {
  if (isHeedError(cause)) return cause;
  return new HeedError(code, `${doing} failed: ${causeText(cause)}`, { cause });
}

/** A revoked proxy can be thrown, too, and has no class to ask for. */
function isHeedError(error: unknown): boolean {
  try {
    return error instanceof HeedError;
  } catch {
    return false;
  }
}

// Guards of public functions, which throw only HeedErrors, although they run code of the caller (getters, proxies) and memory may run out.

import { causeText, HeedError, type HeedErrorCode } from "./errors.js";

/** Runs a step of a public function. What it throws becomes a HeedError with this code, unless it is one already. */
export function guard<T>(code: HeedErrorCode, doing: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw asHeedError(code, doing, error);
  }
}

/** The same for an async step. */
export async function guardAsync<T>(code: HeedErrorCode, doing: string, act: () => Promise<T>): Promise<T> {
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

/** `instanceof` throws on a revoked proxy, which user code may throw. */
function isHeedError(error: unknown): boolean {
  try {
    return error instanceof HeedError;
  } catch {
    return false;
  }
}

// Waiting that a signal can end.

import { HeedError } from "./errors.js";
import { guard } from "./guard.js";

/** Calls `act`, unless the signal is aborted, and rejects as soon as it is, without waiting for `act`. */
export async function unlessAborted<T>(
  where: string,
  signal: AbortSignal | null,
  act: () => T | Promise<T>,
): Promise<T> {
  if (signal === null) return act();
  // `act` may be a function of the caller's, whose errors this passes on, but not those of a signal that only looks like one.
  const using = <R>(use: () => R): R => guard("option", `${where}: using signal`, use);
  let stop = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(new HeedError("aborted", `${where}: aborted by its signal`, { cause: signal.reason }));
  });
  using(() => signal.addEventListener("abort", stop));
  try {
    const isAborted = using(() => signal.aborted);
    if (isAborted) stop();
    return await Promise.race(isAborted ? [aborted] : [act(), aborted]);
  } finally {
    using(() => signal.removeEventListener("abort", stop));
  }
}

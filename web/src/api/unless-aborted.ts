// Waiting that a signal can end.

import { HeedError } from "./errors.js";

/** Calls `act`, unless the signal is aborted, and rejects as soon as it is, without waiting for `act`. */
export async function unlessAborted<T>(
  where: string,
  signal: AbortSignal | null,
  act: () => T | Promise<T>,
): Promise<T> {
  if (signal === null) return act();
  let stop = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(new HeedError("aborted", `${where}: aborted by its signal`, { cause: signal.reason }));
  });
  signal.addEventListener("abort", stop);
  try {
    if (signal.aborted) stop();
    return await Promise.race(signal.aborted ? [aborted] : [act(), aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

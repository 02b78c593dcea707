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
  let stop = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(new HeedError("aborted", `${where}: aborted by its signal`, { cause: signal.reason }));
  });
  // `act` may be a function of the caller's, whose errors this passes on, but not those of a signal that only looks like one.
  const doing = `${where}: using signal`;
  const isAborted = guard("option", doing, () => {
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
    return signal.aborted;
  });
  try {
    return await (isAborted ? aborted : Promise.race([act(), aborted]));
  } finally {
    guard("option", doing, () => signal.removeEventListener("abort", stop));
  }
}

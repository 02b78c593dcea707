// The end of something that many calls depend on, such as a device or an engine. Promise.race with a promise that lives long would keep the result of
// every call.

import { HeedError } from "../../base/errors.js";

/** The error of an ending, as that of a call that it ended. */
export function endOf(where: string, { code, message }: HeedError): HeedError {
  return new HeedError(code, `${where}: ${message}`);
}

export class Ending {
  #error: HeedError | null = null;
  readonly #waiting = new Set<(error: HeedError) => void>();

  /** Null until the end. */
  get error(): HeedError | null {
    return this.#error;
  }

  end(error: HeedError): void {
    this.#error ??= error;
    for (const reject of this.#waiting) reject(error);
    this.#waiting.clear();
  }

  /** Settles as the promise does, or rejects at the end if that comes first. */
  unless<T>(promise: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#error !== null) reject(this.#error);
      this.#waiting.add(reject);
      const settle = <V>(act: (value: V) => void): ((value: V) => void) => {
        return (value) => {
          this.#waiting.delete(reject);
          act(value);
        };
      };
      promise.then(settle(resolve), settle(reject));
    });
  }
}

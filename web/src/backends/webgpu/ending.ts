// The end of something that many wait beside: a device, an engine. Promise.race with a promise that lives long would keep each result.

import type { HeedError } from "../../api/errors.js";

export class Ending {
  #error: HeedError | null = null;
  readonly #waiting = new Set<(error: HeedError) => void>();

  /** Null while it has not come. */
  get error(): HeedError | null {
    return this.#error;
  }

  come(error: HeedError): void {
    this.#error ??= error;
    for (const reject of this.#waiting) reject(error);
    this.#waiting.clear();
  }

  /** What a promise gives, or the end. */
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

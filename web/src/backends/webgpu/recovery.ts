// The device that an engine computes on. A lost device is replaced by another; if there is none, calls run on WebAssembly.

import { causeText } from "../../base/errors.js";
import type { OpenDevice } from "./device.js";

/** The most devices that are opened in place of lost ones. */
const MOST_REOPENINGS = 3;

/** Opens a device in place of a lost one; null if the device is the caller's, which is not replaced. */
export type Reopen = (() => Promise<OpenDevice>) | null;

export class RecoveringDevice {
  /** Why devices were lost, or could not be replaced. */
  readonly losses: string[] = [];
  readonly #reopen: Reopen;
  #open: OpenDevice | null = null;
  #reopenings = 0;
  #disposed = false;
  #replacing: Promise<void> = Promise.resolve();

  constructor(open: OpenDevice, reopen: Reopen) {
    this.#reopen = reopen;
    this.#use(open);
  }

  /** Null while no device is open. */
  get open(): OpenDevice | null {
    return this.#open;
  }

  /** Settles when a lost device has been replaced, or will not be. */
  get replaced(): Promise<void> {
    return this.#replacing;
  }

  dispose(): void {
    this.#disposed = true;
    this.#open?.dispose();
    this.#open = null;
  }

  #use(open: OpenDevice): void {
    this.#open = open;
    void open.device.lost.then(() => {
      if (!this.#disposed) this.#replacing = this.#replace(open, causeText(open.loss.error));
    });
  }

  /** Calls run on wasm meanwhile, and from then on if no other device opens. */
  async #replace(lost: OpenDevice, why: string): Promise<void> {
    this.#open = null;
    this.losses.push(why);
    lost.dispose();
    this.#reopenings += 1;
    if (this.#reopen === null || this.#reopenings > MOST_REOPENINGS) return;
    try {
      const open = await this.#reopen();
      if (this.#disposed) open.dispose();
      else this.#use(open);
    } catch (error) {
      this.losses.push(causeText(error));
    }
  }
}

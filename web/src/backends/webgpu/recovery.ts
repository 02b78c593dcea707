// The device that an engine computes on now, and what follows its loss: another device while there is one to be had, WebAssembly afterwards.

import { causeText } from "../../api/errors.js";
import type { OpenDevice } from "./device.js";

/** A lost device is replaced so many times. */
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

  /** Calls compute on wasm meanwhile, and for good where there is no other device. */
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

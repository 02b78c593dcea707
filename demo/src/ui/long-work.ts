// A button that starts long work and stops it, and the line beside it that says how far it is, how it ended, or why it broke off.

import { h } from "./dom.js";

interface Work {
  readonly name: string;
  readonly look?: "button" | "button primary" | "link";
  /** Resolves with what is to be said when it is done; throws when the signal is aborted. */
  readonly run: (signal: AbortSignal, say: (text: string) => void) => Promise<string>;
}

export class LongWork {
  readonly button: HTMLButtonElement;
  readonly #said = h("p", { class: "small-label", role: "status" });
  readonly #work: Work;
  #running: AbortController | undefined;
  #isRenewed = false;

  constructor(work: Work) {
    this.#work = work;
    this.button = h("button", { type: "button", class: work.look ?? "button" }, work.name);
    this.button.addEventListener("click", () => void this.press());
  }

  /** Other elements of the same line. */
  line(...others: readonly HTMLElement[]): HTMLElement {
    return h("div", { class: "race" }, this.button, ...others, this.#said);
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Its input has changed: work under way starts again, if its button is still there, and the result of earlier work is removed. */
  renew(): void {
    if (this.#running === undefined) {
      this.say("");
      return;
    }
    // Work that the reader stopped is not started again.
    if (this.#running.signal.aborted) return;
    this.#isRenewed = true;
    this.#running.abort();
  }

  say(text: string): void {
    this.#said.textContent = text;
  }

  /** As its button does: starts the work, or stops it. Resolves when the work that it started has ended. */
  async press(): Promise<void> {
    if (this.#running !== undefined) {
      this.#isRenewed = false;
      this.#running.abort();
      return;
    }
    this.button.textContent = "Stop";
    let ended: string;
    do {
      this.#isRenewed = false;
      ended = await this.#run();
    } while (this.#isRenewed && !this.button.hidden);
    this.#running = undefined;
    this.button.textContent = this.#work.name;
    this.say(this.#isRenewed ? "" : ended);
  }

  /** Runs once, and resolves with the text of how it ended. */
  async #run(): Promise<string> {
    const running = new AbortController();
    this.#running = running;
    try {
      return await this.#work.run(running.signal, (text) => this.say(text));
    } catch (error) {
      return running.signal.aborted ? "Stopped." : brokenOff(error);
    }
  }
}

export function brokenOff(error: unknown): string {
  return `It broke off: ${error instanceof Error ? error.message : String(error)}.`;
}

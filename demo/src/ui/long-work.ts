// A button that starts long work and stops it, and the line beside it that says how far it is, how it ended, or why it broke off.

import { h } from "./dom.js";

export interface Work {
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

  constructor(work: Work) {
    this.#work = work;
    this.button = h("button", { type: "button", class: work.look ?? "button" }, work.name);
    this.button.addEventListener("click", () => void this.#press());
  }

  /** With what else stands in the same line. */
  line(...others: readonly HTMLElement[]): HTMLElement {
    return h("div", { class: "race" }, this.button, ...others, this.#said);
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  say(text: string): void {
    this.#said.textContent = text;
  }

  async #press(): Promise<void> {
    if (this.#running !== undefined) {
      this.#running.abort();
      return;
    }
    const running = new AbortController();
    this.#running = running;
    this.button.textContent = "Stop";
    let ended: string;
    try {
      ended = await this.#work.run(running.signal, (text) => this.say(text));
    } catch (error) {
      ended = running.signal.aborted ? "Stopped." : brokenOff(error);
    }
    this.#running = undefined;
    this.button.textContent = this.#work.name;
    this.say(ended);
  }
}

export function brokenOff(error: unknown): string {
  return `It broke off: ${error instanceof Error ? error.message : String(error)}.`;
}

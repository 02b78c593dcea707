// Reads texts with both networks. Both are loaded when somebody types, or asks for more than what was recorded.

import type { Engine } from "../../src/engine/engine.js";
import { NETWORKS, type Network, type Reading } from "./reading.js";
import { RECORDED } from "./recorded.js";
import type { Translator } from "./translator.js";

export class Networks {
  readonly #engine: Engine;
  readonly #changed: () => void;
  readonly #opened = new Map<Network, Promise<Translator>>();
  /** What each read last. */
  readonly #readings = new Map<Network, Reading>(NETWORKS.map((network) => [network, RECORDED[network]]));
  /** The text that was asked for last: an answer to another one comes too late. */
  #asked = RECORDED.text;
  /** A text is being read. */
  isReading = false;
  /** What went wrong; empty as long as nothing did. */
  trouble = "";

  /** `changed`: there is something new to show. */
  constructor(engine: Engine, changed: () => void) {
    this.#engine = engine;
    this.#changed = changed;
  }

  /** Of the text before, until the one that was asked for is read. */
  reading(network: Network): Reading {
    return this.#readings.get(network) ?? RECORDED[network];
  }

  /** Loads them, unless they are there. */
  async open(network: Network): Promise<Translator> {
    const opened = this.#opened.get(network) ?? this.#load(network);
    this.#opened.set(network, opened);
    try {
      return await opened;
    } catch (error) {
      this.#opened.delete(network);
      throw error;
    }
  }

  async #load(network: Network): Promise<Translator> {
    const engine = await this.#engine.opened;
    if (engine === undefined) throw new Error("the kernels did not start here");
    const { openTranslator } = await import("./translator.js");
    return openTranslator(network, engine);
  }

  /** With the one first that is looked at. */
  async read(text: string, first: Network): Promise<void> {
    if (text === this.#asked) return;
    this.#asked = text;
    this.trouble = "";
    this.isReading = text.trim() !== "";
    if (!this.isReading) return;
    try {
      for (const network of [first, ...NETWORKS.filter((other) => other !== first)]) {
        const translator = await this.open(network);
        if (this.#asked !== text) return;
        const reading = text === RECORDED.text ? RECORDED[network] : await translator.read(text);
        if (this.#asked !== text) return;
        this.#readings.set(network, reading);
        if (network !== first) this.isReading = false;
        this.#changed();
      }
    } catch (error) {
      this.isReading = false;
      this.trouble = `The network could not be read: ${error instanceof Error ? error.message : String(error)}.`;
      this.#changed();
    }
  }
}

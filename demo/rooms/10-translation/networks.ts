// Reads texts with both networks. Both are loaded when somebody types, or asks for more than what was recorded.

import type { Engine } from "../../src/engine/engine.js";
import { loadedOnce } from "../../src/model/loaded-once.js";
import { NETWORKS, type Network, RECORDED, type Reading } from "./reading.js";
import type { Translator } from "./translator.js";

export class Networks {
  readonly open: (network: Network) => Promise<Translator>;
  /** What each read last: the text before, until the one that was asked for is read. */
  readonly readings: Record<Network, Reading> = { bahdanau: RECORDED.bahdanau, luong: RECORDED.luong };
  /** A text is being read. */
  isReading = false;
  /** What went wrong; empty as long as nothing did. */
  trouble = "";
  readonly #changed: () => void;
  /** The text that was asked for last: an answer to another one comes too late. */
  #asked = RECORDED.text;

  /** `changed`: there is something new to show. */
  constructor(engine: Engine, changed: () => void) {
    this.#changed = changed;
    this.open = loadedOnce(async (network) => {
      const [heed, { openTranslator }] = await Promise.all([engine.started(), import("./translator.js")]);
      return openTranslator(network, heed);
    });
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
        const reading = text === RECORDED.text ? RECORDED[network] : await (await this.open(network)).read(text);
        if (this.#asked !== text) return;
        this.readings[network] = reading;
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

// The networks of examples/train/dates.js, which heed trained and this site brings. Loaded when somebody types.

import type { Heed } from "heed";
import { loadSafetensors } from "heed/layers";
import { following, restore, rightOf } from "../../../examples/train/dates.js";
import type { Following } from "./beam-picture.js";
import { type Network, type Reading, readable, readingOf } from "./reading.js";

export interface Translator {
  readonly read: (text: string) => Promise<Reading>;
  /** The probability of each character after each of these beginnings of the text's date. */
  readonly follow: (text: string, beginnings: readonly string[]) => Promise<readonly (readonly Following[])[]>;
  /** Of `count` dates, others with each seed and none that it was trained on. */
  readonly accuracy: (seed: number, count: number) => Promise<number>;
}

export async function openTranslator(network: Network, engine: Heed): Promise<Translator> {
  const parameters = await loadSafetensors(`./weights/dates-${network}.safetensors`);
  const trained = restore(parameters, { attention: network === "luong" ? "dot" : "additive", engine });
  return {
    read: async (text) => {
      const { date, scores, alignment } = await trained.answer(readable(text));
      return readingOf(text, date, scores, alignment);
    },
    follow: (text, beginnings) => following(trained, readable(text), beginnings),
    accuracy: async (seed, count) => (await rightOf(trained, { seed, count })).dates,
  };
}

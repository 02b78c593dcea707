// The networks of examples/train/dates.js, which heed trained and this site brings. Loaded when somebody types.

import type { Heed } from "heed";
import { loadSafetensors } from "heed/layers";
import { following, restore } from "../../../examples/train/dates.js";
import type { Following } from "./beam-picture.js";
import { type Network, type Reading, readable, readingOf } from "./reading.js";

export type Translator = Awaited<ReturnType<typeof openTranslator>>;

export async function openTranslator(network: Network, engine: Heed) {
  const parameters = await loadSafetensors(`./weights/dates-${network}.safetensors`);
  const trained = restore(parameters, { attention: network === "luong" ? "dot" : "additive", engine });
  return {
    read: async (text: string): Promise<Reading> => {
      const { date, scores, alignment } = await trained.answer(readable(text));
      return readingOf(text, date, scores, alignment);
    },
    follow: (text: string, beginnings: readonly string[]): Promise<readonly (readonly Following[])[]> =>
      following(trained, readable(text), beginnings),
  };
}

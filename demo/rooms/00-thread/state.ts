// What the reader can choose at the ten stops.

import { codecFrom, initially, number, oneOf, type StateOf, step } from "../../src/model/fields.js";
import { ENDINGS } from "../../src/model/toy.js";

export const LOOKED_UP = ["animal", "road", "moon"] as const;
export const ASKERS = ["it", "tired", "animal", "road"] as const;
/** As they stand in the address. */
export const STOPS = [
  "look-up",
  "soft",
  "roles",
  "scores",
  "scale",
  "softmax",
  "mix",
  "mask",
  "heads",
  "layers",
] as const;
export type Stop = (typeof STOPS)[number];
/** Their question is answered by drawing. */
export type Sketched = Extract<Stop, "scale" | "mask">;

export const WIDTHS: readonly number[] = [4, 16, 64, 256, 1024];
export const SHARPEST = 8;
export const RAISE = 4;

const FIELDS = {
  stop: initially("look-up", oneOf("stop", STOPS)),
  lookedUp: initially("road", oneOf("find", LOOKED_UP)),
  sharpness: initially(2, number("sharp", 0, SHARPEST, 1)),
  asker: initially("it", oneOf("who", ASKERS)),
  width: initially(256, step("d", WIDTHS)),
  divided: initially("no", oneOf("root", ["no", "yes"])),
  raise: initially(0, number("raise", -RAISE, RAISE, 1)),
  sees: initially("all", oneOf("sees", ["all", "before"])),
  heads: initially("1", oneOf("h", ["1", "2"])),
  ending: initially("tired", oneOf("too", ENDINGS)),
};

export type ThreadState = StateOf<typeof FIELDS>;

export const THREAD_STATE = codecFrom<ThreadState>(FIELDS);

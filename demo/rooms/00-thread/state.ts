// What the reader can choose at the ten stops.

import { codecOf, number, oneOf } from "../../src/model/fields.js";
import { Store } from "../../src/model/store.js";
import { ENDINGS, type Ending } from "./toy.js";

export const LOOKED_UP = ["animal", "road", "tired"] as const;
export const ASKERS = ["it", "tired", "animal", "road"] as const;
export const WIDTHS: readonly number[] = [4, 16, 64, 256, 1024];
export const SHARPEST = 8;
export const RAISE = 4;

export interface ThreadState {
  readonly lookedUp: (typeof LOOKED_UP)[number];
  readonly sharpness: number;
  readonly asker: (typeof ASKERS)[number];
  readonly width: number;
  readonly raise: number;
  readonly sees: "all" | "before";
  readonly heads: "1" | "2";
  readonly ending: Ending;
}

export const openThreadStore = (): Store<ThreadState> =>
  new Store(
    codecOf<ThreadState>(
      {
        lookedUp: "road",
        sharpness: 2,
        asker: "it",
        width: 256,
        raise: 0,
        sees: "all",
        heads: "1",
        ending: "tired",
      },
      {
        lookedUp: oneOf("find", LOOKED_UP),
        sharpness: number("sharp", 0, SHARPEST, 1),
        asker: oneOf("who", ASKERS),
        width: number("d", 4, 1024),
        raise: number("raise", -RAISE, RAISE, 1),
        sees: oneOf("sees", ["all", "before"]),
        heads: oneOf("h", ["1", "2"]),
        ending: oneOf("too", ENDINGS),
      },
      (state) => ({ ...state, width: WIDTHS.filter((width) => width <= state.width).at(-1) ?? 4 }),
    ),
  );

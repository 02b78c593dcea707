// The rules of the painted mask against the options that the room hands to heed: the reference must see the same pairs.

import { describe, expect, test } from "vitest";
import { structureOf } from "../../../demo/rooms/05-masks/call.js";
import { sees } from "../../../demo/rooms/05-masks/rules.js";
import { MASK_STATE, type MaskState, OPEN } from "../../../demo/rooms/05-masks/state.js";
import { attention } from "../../../web/src/reference/index.js";
import { Random } from "../../support/random.js";

const STATES = 400;
const SEED = 20;

/** A state as somebody might leave it: every rule on or off, sizes from one on. */
function anyState(random: Random): MaskState {
  const queries = random.whole(1, 9);
  const sometimes = <T>(value: T, other: T): T => (random.chance(0.4) ? value : other);
  const keys = sometimes(random.whole(1, 9), queries);
  return MASK_STATE.consistent({
    ...MASK_STATE.initial,
    queries,
    keys,
    causal: random.pick(["none", "lower-right", "upper-left"]),
    left: sometimes(random.whole(0, 4), OPEN),
    right: sometimes(random.whole(0, 4), OPEN),
    prefix: sometimes(random.whole(0, keys), 0),
    cuts: sometimes([random.whole(1, 3), random.whole(4, 8)], []),
    padding: sometimes(random.whole(0, 3), 0),
    block: sometimes(random.whole(1, 4), 0),
    painted: sometimes([random.whole(0, 20), random.whole(21, 80)], []),
  });
}

describe("the options that the room gives to heed", () => {
  test(`let the reference see what the rules let the grid see, in ${STATES} states of seed ${SEED}`, () => {
    const random = new Random(SEED);
    for (let count = 0; count < STATES; count++) {
      const state = anyState(random);
      const { queries, keys } = state;
      const { mask, ...structure } = structureOf(state);
      const equal = (rows: number) => ({ data: new Float64Array(rows), shape: [1, 1, rows, 1] });
      const options = {
        ...structure,
        ...(mask === undefined ? {} : { mask: { data: Uint8Array.from(mask), shape: [1, 1, queries, keys] } }),
      };
      const { weights } = attention(equal(queries), equal(keys), equal(keys), options);
      for (let row = 0; row < queries; row++) {
        for (let col = 0; col < keys; col++) {
          const seen = (weights.data[row * keys + col] ?? Number.NaN) > 0;
          expect(seen, `${JSON.stringify(state)} at ${row}, ${col}`).toBe(sees(state, row, col));
        }
      }
    }
  });

  test("name structure where heed has a name for it, and spell out a mask only for the rest", () => {
    const of = (patch: Partial<MaskState>): string[] =>
      Object.keys(structureOf(MASK_STATE.consistent({ ...MASK_STATE.initial, causal: "none", ...patch })));
    expect(of({})).toEqual([]);
    expect(of({ causal: "lower-right", left: 3 })).toEqual(["causal", "window"]);
    expect(of({ causal: "lower-right", cuts: [5] })).toEqual(["causal", "cuSeqlensQ"]);
    expect(of({ padding: 2 })).toEqual(["qLengths", "kvLengths"]);
    expect(of({ causal: "lower-right", prefix: 2 })).toEqual(["mask"]);
    expect(of({ causal: "lower-right", block: 3 })).toEqual(["causal", "mask"]);
  });
});

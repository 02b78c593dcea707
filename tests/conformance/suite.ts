// The conformance tests of one engine, which must be of the kind that it says: every covered case, sync and async, and all of linear attention and rotary embedding. Run in
// Node and in Chromium alike.

import { folder, required, set } from "virtual:conformance";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Capabilities, Heed } from "../../web/src/index.js";
import { ATTENTION_CASES, attentionCases, callOf, firstDifference, whyNot } from "./onnx.js";
import { EXTRA_CASES, extraCases, linearCaseOf, ropeCaseOf } from "./onnx-extra.js";

/** `kind`: what the engine must say of itself. */
export function conformanceSuite(name: string, open: () => Promise<Heed>, kind: Partial<Capabilities>): void {
  describe(name, () => {
    if (set === null) {
      test("sees ONNX's cases where they are demanded", () => {
        console.warn(
          `conformance: ${ATTENTION_CASES} attention cases and ${EXTRA_CASES.LinearAttention + EXTRA_CASES.RotaryEmbedding} others of ONNX's could not be seen: no ${folder} (HEED_CONFORMANCE names it)`,
        );
        expect(required, `HEED_CONFORMANCE_REQUIRED is 1 and ${folder} is missing`).toBe(false);
      });
      return;
    }
    const present = set;
    let heed: Heed;
    beforeAll(async () => {
      heed = await open();
    });
    afterAll(() => heed.dispose());
    test(`is of the kind ${JSON.stringify(kind)}, and no other`, () => {
      expect(heed.capabilities).toMatchObject(kind);
    });
    test.each(attentionCases(present).filter((one) => whyNot(one) === null))("$name", async (one) => {
      const { query, key, value, options, stage, output, weights, scores } = callOf(one, present);
      const all = { ...options, keep: false, return: { weights: true, scores: stage ?? "raw" } } as const;
      for (const got of [await heed.attention(query, key, value, all), heed.attentionSync(query, key, value, all)]) {
        expect(firstDifference("output", got.output, output, present)).toBeNull();
        if (weights !== null) expect(firstDifference("weights", got.weights, weights, present)).toBeNull();
        if (scores !== null) expect(firstDifference("scores", got.scores, scores, present)).toBeNull();
      }
    });
    test("sees all cases of linear attention and rotary embedding", () => {
      for (const op of ["LinearAttention", "RotaryEmbedding"] as const) {
        expect(extraCases(present, op).length).toBe(EXTRA_CASES[op]);
      }
    });
    test.each(extraCases(present, "LinearAttention"))("$name", async (one) => {
      const { tensors, options, output, state } = linearCaseOf(one, present);
      const got = await heed.linearAttention(...tensors, { ...options, keep: false });
      expect(firstDifference("output", got.output, output, present)).toBeNull();
      expect(firstDifference("state", got.state, state, present)).toBeNull();
    });
    test.each(extraCases(present, "RotaryEmbedding"))("$name", async (one) => {
      const { x, options, output } = ropeCaseOf(one, present);
      expect(firstDifference("output", await heed.rope(x, { ...options, keep: false }), output, present)).toBeNull();
    });
  });
}

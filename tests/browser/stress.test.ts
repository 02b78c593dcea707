// Mixed calls in great number on the engines that this page can have.

import { expect, test } from "vitest";
import { createHeed } from "../../web/src/index.js";
import { STRESS_TIMEOUT, stress } from "../support/stress.js";

test.each([1, 2])(
  "every call ends as it should, %i threads",
  async (threads) => {
    const counts = await stress(() => createHeed({ offload: true, threads }), 20261128 + threads);
    expect(counts["right"]).toBeGreaterThan(50);
  },
  STRESS_TIMEOUT,
);

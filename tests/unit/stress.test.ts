// Mixed calls in great number on engines of every kind.

import { describe, expect, test } from "vitest";
import { FEW_KINDS, openKind } from "../support/engines.js";
import { STRESS_TIMEOUT, stress } from "../support/stress.js";

describe.each(FEW_KINDS)("$variant, $worker worker", (kind) => {
  const threads = kind.worker === null ? [1] : [1, 2, 3];

  test.each(threads)(
    "every call ends as it should, %i threads",
    async (threads) => {
      const counts = await stress(() => openKind(kind, { threads }), 20261128 + threads);
      expect(counts["right"]).toBeGreaterThan(50);
    },
    STRESS_TIMEOUT,
  );
});

// Queries whose every score is -Infinity, on every kind of engine, with keys from a call and from caches of every type.

import { afterAll, describe, expect, test } from "vitest";
import { TYPES } from "../support/cached.js";
import { ENGINE_KINDS, openKind } from "../support/engines.js";
import { keylessErrors, keylessProblems } from "../support/keyless.js";

describe.each(ENGINE_KINDS)("$variant, $worker worker", async (kind) => {
  const heed = await openKind(kind);
  afterAll(() => heed.dispose());

  test.each([undefined, ...TYPES])("a query without a score above -Infinity has no key, cache: %s", async (dtype) => {
    for (const one of keylessProblems()) expect(await keylessErrors(heed, one, { dtype }), one.name).toEqual([]);
  });
});

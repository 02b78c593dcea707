// ONNX's Attention cases on every variant and worker in Node; and the list of those not covered, which can only shrink.

import { set } from "virtual:conformance";
import { expect, test } from "vitest";
import { ENGINE_KINDS, nameOf, openKind } from "../support/engines.js";
import notCovered from "./not-covered.json";
import { attentionCases, whyNot } from "./onnx.js";
import { conformanceSuite } from "./suite.js";

for (const kind of ENGINE_KINDS) conformanceSuite(nameOf(kind), () => openKind(kind), kind);

test("not-covered.json lists the cases that heed cannot compute, and no others", () => {
  // Without the folder there is nothing to compare with, which the suites above have said.
  if (set === null) return;
  const cases = attentionCases(set);
  const uncovered = Object.fromEntries(cases.map((one) => [one.name, whyNot(one)]).filter(([, why]) => why !== null));
  expect(notCovered).toEqual(uncovered);
});

// ONNX's Attention cases in Chromium: both variants on the page's kind of worker and on the calling thread. The two projects, with
// and without isolation, run all four artefacts.

import { inject } from "vitest";
import { createHeed } from "../../web/src/index.js";
import { type EngineKind, nameOf } from "../support/engines.js";
import { conformanceSuite } from "./suite.js";

const worker = inject("isolated") ? "shared-memory" : "private-memory";

for (const variant of ["simd", "relaxed"] as const) {
  for (const kind of [
    { variant, worker },
    { variant, worker: null },
  ] satisfies EngineKind[]) {
    conformanceSuite(nameOf(kind), () => createHeed({ variant, offload: kind.worker !== null }), kind);
  }
}

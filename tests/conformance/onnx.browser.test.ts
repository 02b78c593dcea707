// ONNX's Attention cases in a browser: its variants on the page's kind of worker and on the calling thread. A browser's two
// projects, with and without isolation, run all four artefacts, or those that it has.

import { inject } from "vitest";
import { createHeed } from "../../web/src/index.js";
import { type EngineKind, nameOf } from "../support/engines.js";
import { conformanceSuite } from "./suite.js";

const worker = inject("isolated") ? "shared-memory" : "private-memory";

for (const variant of inject("relaxedSimd") ? (["simd", "relaxed"] as const) : (["simd"] as const)) {
  for (const kind of [
    { variant, worker },
    { variant, worker: null },
  ] satisfies EngineKind[]) {
    conformanceSuite(nameOf(kind), () => createHeed({ variant, offload: kind.worker !== null }), kind);
  }
}

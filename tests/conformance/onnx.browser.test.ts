// ONNX's Attention cases in Chromium, as a page gets heed by default and on each kind of worker.

import { createHeed } from "../../web/src/index.js";
import { conformanceSuite } from "./suite.js";

conformanceSuite("default engine", () => createHeed());
conformanceSuite("plain SIMD", () => createHeed({ variant: "simd" }));
conformanceSuite("calling thread", () => createHeed({ offload: false }));

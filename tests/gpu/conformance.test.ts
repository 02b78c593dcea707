// ONNX's Attention cases on the GPU, held to the same bounds as on every other backend.

import { createHeed } from "../../web/src/index.js";
import { conformanceSuite } from "../conformance/suite.js";

conformanceSuite("webgpu", () => createHeed({ backend: "webgpu" }), { backend: "webgpu" });

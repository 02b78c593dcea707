// ONNX's Attention cases on the GPU, held to what every other backend is held to.

import { createHeed } from "../../web/src/index.js";
import { conformanceSuite } from "../conformance/suite.js";

conformanceSuite("webgpu", () => createHeed({ backend: "webgpu" }), { backend: "webgpu" });

// The one answer of a worker on shared memory, whose results are there already.

import type { DoneMessage } from "./protocol.js";

export const DONE: DoneMessage = { kind: "done", status: 0, message: "", outputs: [], refused: [], memoryBytes: 0 };

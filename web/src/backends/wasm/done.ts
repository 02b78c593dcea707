// The answer of a worker on shared memory. It is empty, because the results are in the memory already.

import type { DoneMessage } from "./protocol.js";

export const DONE: DoneMessage = { kind: "done", status: 0, message: "", outputs: [], refused: [], memoryBytes: 0 };

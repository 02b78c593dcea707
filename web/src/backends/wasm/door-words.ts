// The words of the door and the one answer of who leads behind it: what the two sides of a shared memory have in common.

import type { DoneMessage } from "./protocol.js";

/** The door's words, and what its state can be. */
export const DOOR = {
  words: 16,
  state: 0,
  call: 1,
  /** The call may be computed by the workers below. */
  workers: 2,
  status: 3,
  /** States: a call is handed in, and (0) none, or it is done. */
  posted: 1,
} as const;

/** An answer that says no more than that it is one. */
export const DONE: DoneMessage = { kind: "done", status: 0, message: "", outputs: [], refused: [], memoryBytes: 0 };

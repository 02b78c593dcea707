// The runners that need no shared memory, loaded as one chunk.

export { BlockingRunner, SlicedRunner } from "./local-runners.js";
export { PrivateRunner } from "./private-runner.js";

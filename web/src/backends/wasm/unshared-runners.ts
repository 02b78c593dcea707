// What computes without shared memory, loaded as one.

export { BlockingRunner, SlicedRunner } from "./local-runners.js";
export { PrivateRunner } from "./private-runner.js";

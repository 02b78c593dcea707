// heed/layers: models around attention. Importing it does nothing.

// From the entry itself, so that the two share a file: shared modules alone would get one of their own, which all would load.
export { HeedError, type HeedErrorCode } from "../index.js";
export * from "./generate/index.js";
export * from "./io/index.js";
export * from "./text/index.js";

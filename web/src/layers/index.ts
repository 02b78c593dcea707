// heed/layers: models around attention. Importing it does nothing.

export * from "./generate/index.js";
export * from "./io/index.js";
export * from "./text/index.js";

// heed/layers: models around attention. Importing it does nothing.

export * from "./io/index.js";

// Every entry but that of custom elements, for a compiler that has no names of browsers or of Node.
export * as heed from "heed";
export * as assets from "heed/assets";
export * as expr from "heed/expr";
export * as layers from "heed/layers";
export * as models from "heed/models";
export * as reference from "heed/reference";
export * as text from "heed/text";
export * as train from "heed/train";
export * as webgpu from "heed/webgpu";

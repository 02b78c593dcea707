// Generation: tokens out of anything that says what may come next.

export { type BeamResult, beamSearch, type NextBeamLogits } from "./beam-search.js";
export { greedy, sample, streamGreedy, streamSample } from "./one-by-one.js";
export type { BeamOptions, GenerateOptions, NextLogits, SampleOptions } from "./options.js";

// Generation of tokens with any function that returns logits.

export { type BeamResult, beamSearch, type NextBeamLogits } from "./beam-search.js";
export { greedy, sample, streamGreedy, streamSample } from "./one-by-one.js";
export type { BeamOptions, GenerateOptions, NextLogits, SampleOptions } from "./options.js";

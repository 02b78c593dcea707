// The machine's peak and read bandwidth in this browser, on one thread and on two: the loops of bench/cpp.

import { participant } from "../lib/participants.js";
import { measure } from "../lib/rounds.js";
import { shapeOf } from "../lib/shapes.js";

const LOOPS = ["chain-simd", "chain-relaxed", "tile-simd", "tile-relaxed", "read"];

/** `read` reads its K and V: 16.8 MB, more than a core's own cache. */
const SHAPE = "8x1:4096x64";

/** @param {import("../lib/stage.js").Stage} stage @param {import("./settings.js").Settings} settings */
export async function studyMachine(stage, settings) {
  const all = LOOPS.flatMap((loop) => [participant(`${loop}@1`), participant(`${loop}@2`)]);
  return measure(stage, shapeOf(SHAPE), all, settings.pace);
}

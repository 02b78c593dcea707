// Puts the room's page together: the store, the engine, the room.

import { type Answer, Engine } from "../../src/engine/engine.js";
import { identity, stack } from "../../src/model/matrix.js";
import { startFrame } from "../../src/page/frame.js";
import { find } from "../../src/ui/dom.js";
import { type ScaleAnswer, ScaleRoom } from "./room.js";
import { type ScaleScene, sceneOf, vectors } from "./scene.js";
import { soften } from "./softmax.js";
import { openScaleStore, type ScaleState, WIDTHS } from "./state.js";
// After the frame, whose styles a room refines.
import "../../style/scale.css";

/** What the numbers depend on; over what the curves run does not change them. */
const COMPUTED_FROM = [
  "width",
  "keys",
  "scaling",
  "temperature",
  "likeness",
  "seed",
] as const satisfies readonly (keyof ScaleState)[];

const store = openScaleStore();
const engine = new Engine();
let scene = sceneOf(store.state);
let answer: ScaleAnswer | undefined;
const room = new ScaleRoom(store, find("#room", HTMLElement), scene);

/** Every draw is a head of its own. */
function compute(): void {
  const asked = scene;
  const { width, temperature, scaling, keys } = asked.state;
  const options = { temperature, ...(scaling === "none" ? { scale: 1 } : {}) };
  const q = stack(asked.draws.map((draw) => vectors([draw.q], width)));
  const k = stack(asked.draws.map((draw) => vectors(draw.keys, width)));
  const v = stack(asked.draws.map(() => identity(keys)));
  engine.ask([{ q, k, v, options }], ([found]) => {
    if (asked !== scene || found === undefined) return;
    answer = readAnswer(asked, found);
    room.show(scene, answer);
  });
}

function readAnswer({ draws, factor, state }: ScaleScene, { weights }: Answer): ScaleAnswer {
  const at = WIDTHS.indexOf(state.width);
  const own = draws.flatMap(({ scores }) => soften(scores.map((score) => (score[at] ?? 0) * factor)).shares);
  const gaps = own.map((share, index) => Math.abs(share - (weights.data[index] ?? Number.NaN)));
  return { shares: weights.data.slice(0, state.keys), difference: Math.max(...gaps) };
}

store.listen((state, before) => {
  scene = sceneOf(state);
  if (COMPUTED_FROM.some((key) => state[key] !== before[key])) {
    answer = undefined;
    compute();
  }
  room.show(scene, answer);
});

startFrame(engine);
compute();
room.show(scene, answer);
void engine.open();

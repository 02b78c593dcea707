// Puts the landing page together: the store, the engine, the sentence at the top, and the walk.

import { Engine } from "../../src/engine/engine.js";
import { callsOf, type KernelAnswer, readAnswer } from "../../src/engine/walk-call.js";
import type { State } from "../../src/model/state.js";
import { openWalkStore } from "../../src/model/url.js";
import { type Walk, walk } from "../../src/model/walk.js";
import { startFrame } from "../../src/page/frame.js";
import { SentenceInput } from "../../src/page/input.js";
import { Stage } from "../../src/page/stage.js";
import { copyFrom } from "../../src/ui/copy.js";
import { find } from "../../src/ui/dom.js";
import { MatrixWalk } from "./room.js";
// After the frame, whose styles a room refines.
import "../../style/stage.css";
import "../../style/walk.css";

/** What the numbers depend on; everything else in the state only decides what is looked at. */
const COMPUTED_FROM = [
  "text",
  "numbers",
  "width",
  "heads",
  "scale",
  "causal",
  "asking",
  "hidden",
  "edited",
] as const satisfies readonly (keyof State)[];

const store = openWalkStore();
const engine = new Engine();
const stage = new Stage(store, find("#stage", HTMLElement));
const input = new SentenceInput(store, find("#input", HTMLElement));
let now: Walk = walk(store.state);
let answer: KernelAnswer | undefined;
const room = new MatrixWalk(store, find("#matrix-walk-room", HTMLElement), now);

function draw(): void {
  const { head } = store.state;
  stage.show(now, (answer?.heads[head] ?? now.heads[head])?.weights);
  input.show(store.state, now);
  room.show(now, answer);
}

function compute(): void {
  const asked = walk(store.state);
  now = asked;
  answer = undefined;
  engine.ask(callsOf(asked, store.state), ([found]) => {
    if (asked !== now || found === undefined) return;
    answer = readAnswer(asked, found);
    draw();
  });
}

store.listen((state, before) => {
  if (state.step !== before.step || state.all !== before.all) room.forget();
  if (COMPUTED_FROM.some((key) => state[key] !== before[key])) compute();
  draw();
});

startFrame(engine);
const install = find("#install", HTMLButtonElement);
install.addEventListener("click", () => void copyFrom(install, "npm install heed"));

compute();
draw();
void engine.open();

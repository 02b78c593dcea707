// Puts the page together: the store, the kernel, the sentence at the top, and the room.

import "../style/base.css";
import "../style/page.css";
import "../style/stage.css";
import "../style/controls.css";
import "../style/matrix.css";
import "../style/walk.css";
import { MatrixWalk } from "../rooms/04-matrix-walk/room.js";
import { Kernel, type KernelAnswer } from "./engine/kernel.js";
import type { State } from "./model/state.js";
import { Store } from "./model/store.js";
import { type Walk, walk } from "./model/walk.js";
import { SentenceInput } from "./page/input.js";
import { Stage } from "./page/stage.js";
import { showStatus } from "./page/status.js";
import { startTheme } from "./page/theme.js";
import { copyFrom } from "./ui/copy.js";
import { calm, find } from "./ui/dom.js";

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

const store = new Store();
const kernel = new Kernel();
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

store.listen((state, before) => {
  if (state.step !== before.step || state.all !== before.all) room.forget();
  if (COMPUTED_FROM.some((key) => state[key] !== before[key])) {
    now = walk(state);
    answer = undefined;
    kernel.compute(now, state);
  }
  draw();
});

kernel.onAnswer = (computed, found) => {
  if (computed !== now) return;
  answer = found;
  draw();
};
kernel.onStatus = () => {
  if (kernel.status.kind === "failed") answer = undefined;
  showStatus(
    kernel,
    find("#status-summary", HTMLElement),
    find("#status-details", HTMLElement),
    find("#warning", HTMLElement),
  );
};

startTheme(find("#theme", HTMLButtonElement));
const install = find("#install", HTMLButtonElement);
install.addEventListener("click", () => void copyFrom(install, "npm install heed"));

// Links within the page must not overwrite the state in the address.
for (const link of document.querySelectorAll<HTMLAnchorElement>('a[href^="#"]')) {
  link.addEventListener("click", (event) => {
    const target = document.querySelector<HTMLElement>(link.hash);
    if (target === null) return;
    event.preventDefault();
    target.tabIndex = -1;
    target.focus({ preventScroll: true });
    target.scrollIntoView({ behavior: calm() ? "auto" : "smooth" });
  });
}

draw();
kernel.compute(now, store.state);
void kernel.open();

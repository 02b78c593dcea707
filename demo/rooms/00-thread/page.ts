// The thread: ten stops that scroll beside a stage that stays. What the stage shows depends on the stop in the middle of the screen and on
// what the reader chose there.

import { Store } from "../../src/model/store.js";
import { ENDINGS } from "../../src/model/toy.js";
import { startFrame } from "../../src/page/frame.js";
import { boundChoice, boundSlider } from "../../src/ui/controls.js";
import { button, calm, find, h } from "../../src/ui/dom.js";
import { exact } from "../../src/ui/numbers.js";
import { STOPS, type Stop, sceneOf } from "./scene.js";
import { stageOf } from "./stage.js";
import { ASKERS, LOOKED_UP, RAISE, SHARPEST, THREAD_STATE, WIDTHS } from "./state.js";
import "../../style/thread.css";

startFrame();
const store = new Store(THREAD_STATE);

const NEW = { entry: "new" } as const;
const IN_TENTHS = { entry: "run", said: (value: number) => exact(value, 1) } as const;
const who = (): HTMLElement => boundChoice(store, "asker", "Who asks?", ASKERS, NEW);
const SEES = { all: "all words", before: "itself and the words before" };
const sharpnesses = { least: 0, most: SHARPEST, step: 0.5 };
const raises = { least: -RAISE, most: RAISE, step: 0.5 };

const CONTROLS: Readonly<Record<Stop, HTMLElement>> = {
  "look-up": boundChoice(store, "lookedUp", "Look up", LOOKED_UP, NEW),
  "soft look-up": boundSlider(store, "sharpness", "Sharpness", sharpnesses, IN_TENTHS),
  roles: who(),
  scores: who(),
  scale: boundSlider(store, "width", "Width d", WIDTHS, IN_TENTHS),
  softmax: boundSlider(store, "raise", "Raise the score of animal by", raises, IN_TENTHS),
  mix: who(),
  mask: boundChoice(store, "sees", "it sees", SEES, NEW),
  heads: boundChoice(store, "heads", "Heads", ["1", "2"], NEW),
  layers: boundChoice(store, "ending", "It was too", ENDINGS, NEW),
};

const stage = stageOf();
const [number, name] = [h("span", {}), h("b", {})];
const [back, next] = [button("Back", () => go(at - 1)), button("Next", () => go(at + 1))];
find("#stage", HTMLElement).append(
  h("div", { class: "thread-head" }, back, h("p", {}, number, name), next),
  stage.element,
);

const stops = STOPS.map((stop) => {
  const section = find(`[data-stop="${stop}"]`, HTMLElement);
  section.querySelector(".thread-control")?.replaceChildren(CONTROLS[stop]);
  return section;
});
let at = 0;

function show(): void {
  const stop = STOPS[at] ?? "look-up";
  number.textContent = `${at + 1} of ${STOPS.length} `;
  name.textContent = stops[at]?.querySelector("h2")?.textContent ?? "";
  [back.disabled, next.disabled] = [at === 0, at === STOPS.length - 1];
  stops.forEach((section, index) => {
    section.classList.toggle("here", index === at);
  });
  stage.show(sceneOf(store.state, stop));
}

/** On a phone the stage is above the text. */
const isBeside = (): boolean => find("#stage", HTMLElement).getBoundingClientRect().left > 100;

/** The line that a stop crosses to become the one on the stage: the middle of what the stage leaves free. */
function follow(): void {
  const { bottom } = find("#stage", HTMLElement).getBoundingClientRect();
  const line = isBeside() ? innerHeight / 2 : (Math.min(bottom, innerHeight) + innerHeight) / 2;
  const stop = Math.max(0, stops.filter((section) => section.getBoundingClientRect().top <= line).length - 1);
  if (stop === at) return;
  at = stop;
  show();
}

function go(to: number): void {
  stops[to]?.scrollIntoView({ behavior: calm() ? "auto" : "smooth", block: isBeside() ? "center" : "start" });
}
addEventListener("scroll", follow, { passive: true });
addEventListener("resize", follow);
store.listen(show);
show();
follow();

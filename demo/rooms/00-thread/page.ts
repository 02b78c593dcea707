// The thread: ten stops that scroll beside a stage that stays. What the stage shows depends on the stop in the middle of the screen and on
// what the reader chose there.

import { Store } from "../../src/model/store.js";
import { startFrame } from "../../src/page/frame.js";
import { choice } from "../../src/ui/choice.js";
import { button, calm, find, h } from "../../src/ui/dom.js";
import { exact } from "../../src/ui/numbers.js";
import { slider } from "../../src/ui/slider.js";
import { STOPS, type Stop, sceneOf } from "./scene.js";
import { stageOf } from "./stage.js";
import { ASKERS, LOOKED_UP, RAISE, SHARPEST, THREAD_STATE, type ThreadState, WIDTHS } from "./state.js";
import { ENDINGS } from "./toy.js";
// After the frame, whose styles it refines.
import "../../style/thread.css";

startFrame();
const store = new Store(THREAD_STATE);

interface Control {
  readonly element: HTMLElement;
  readonly show: (state: ThreadState) => void;
}

function choose<K extends "lookedUp" | "asker" | "sees" | "heads" | "ending">(
  legend: string,
  key: K,
  values: readonly ThreadState[K][],
  texts: readonly string[] = values,
): Control {
  const options = values.map((value, index) => ({ value, text: texts[index] ?? value }));
  const made = choice<ThreadState[K]>(legend, options, (value) => store.change({ [key]: value }, "new"));
  return { element: made.element, show: (state) => made.show(state[key]) };
}

function slide(label: string, key: "sharpness" | "width" | "raise", range: Parameters<typeof slider>[1]): Control {
  const made = slider(label, range, (value) => store.change({ [key]: value }, "run"));
  return { element: made.element, show: (state) => made.show(state[key], exact(state[key], 1)) };
}

const CONTROLS: Readonly<Record<Stop, Control>> = {
  "look-up": choose("Look up", "lookedUp", LOOKED_UP),
  "soft look-up": slide("Sharpness", "sharpness", { least: 0, most: SHARPEST, step: 0.5 }),
  roles: choose("Who asks?", "asker", ASKERS),
  scores: choose("Who asks?", "asker", ASKERS),
  scale: slide("Width d", "width", WIDTHS),
  softmax: slide("Raise the score of animal by", "raise", { least: -RAISE, most: RAISE, step: 0.5 }),
  mix: choose("Who asks?", "asker", ASKERS),
  mask: choose("it sees", "sees", ["all", "before"], ["all words", "itself and the words before"]),
  heads: choose("Heads", "heads", ["1", "2"]),
  layers: choose("It was too", "ending", ENDINGS),
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
  section.querySelector(".thread-control")?.replaceChildren(CONTROLS[stop].element);
  return section;
});
let at = 0;

function show(): void {
  const stop = STOPS[at] ?? "look-up";
  number.textContent = `${at + 1} of ${STOPS.length} `;
  name.textContent = stops[at]?.querySelector("h2")?.textContent ?? "";
  [back.disabled, next.disabled] = [at === 0, at === STOPS.length - 1];
  for (const one of STOPS) CONTROLS[one].show(store.state);
  stops.forEach((section, index) => {
    section.classList.toggle("here", index === at);
  });
  stage.show(sceneOf(store.state, stop));
}

/** On a phone the stage is above the text. */
function isBeside(): boolean {
  return find("#stage", HTMLElement).getBoundingClientRect().left > 100;
}

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

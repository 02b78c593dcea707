// The thread: ten stops that scroll beside a stage that stays. What the stage shows depends on the stop in the middle of the screen and on
// what the reader chose there.

import { Store } from "../../src/model/store.js";
import { ENDINGS, WORDS } from "../../src/model/toy.js";
import { EMBED, showEmbedded } from "../../src/page/embed.js";
import { startFrame } from "../../src/page/frame.js";
import { comesBack } from "../../src/page/kept.js";
import { boundChoice, boundSlider } from "../../src/ui/controls.js";
import { button, calm, find, h } from "../../src/ui/dom.js";
import { guess } from "../../src/ui/guess.js";
import { exact } from "../../src/ui/numbers.js";
import { GUESSES, SKETCHES } from "./guesses.js";
import { BARS, emptySketch, sceneOf } from "./scene.js";
import { startPrint } from "./sheets.js";
import { type Sketch, sketching } from "./sketch.js";
import { stageOf } from "./stage.js";
import {
  ASKERS,
  LOOKED_UP,
  RAISE,
  SHARPEST,
  type Sketched,
  STOPS,
  type Stop,
  THREAD_STATE,
  type ThreadState,
  WIDTHS,
} from "./state.js";
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
  soft: boundSlider(store, "sharpness", "Sharpness", sharpnesses, IN_TENTHS),
  roles: who(),
  scores: who(),
  scale: boundSlider(store, "width", "Width d", WIDTHS, IN_TENTHS),
  softmax: boundSlider(store, "raise", "Raise the score of animal by", raises, IN_TENTHS),
  mix: who(),
  mask: boundChoice(store, "sees", "Each word sees", SEES, NEW),
  heads: boundChoice(store, "heads", "Heads", ["1", "2"], NEW),
  layers: boundChoice(store, "ending", "It was too", ENDINGS, NEW),
};

/** What each lab opens with, by what was set here. */
const TAKEN: Readonly<Record<Stop, (state: ThreadState) => Readonly<Record<string, string>>>> = {
  "look-up": () => ({ T: "0" }),
  soft: ({ sharpness }) => ({ T: sharpness === 0 ? "inf" : exact(1 / sharpness, 2) }),
  roles: (state) => ({ ...askerTaken(state), step: "project" }),
  scores: () => ({ score: "dot" }),
  scale: ({ width, divided }) => ({ d: String(width), ...(divided === "yes" && { scaling: "root" }) }),
  softmax: () => ({ ...askerTaken({ asker: "it" }), step: "softmax" }),
  mix: (state) => ({ ...askerTaken(state), step: "output" }),
  mask: ({ sees }) => ({ causal: sees === "all" ? "none" : "lower-right" }),
  heads: ({ heads, ending }) => ({ h: heads, too: ending }),
  layers: () => ({}),
};

function askerTaken({ asker }: Pick<ThreadState, "asker">): Readonly<Record<string, string>> {
  const words = ["The", ...WORDS.slice(1), ENDINGS[0]];
  return { t: words.join(" "), word: String(words.indexOf(asker)) };
}

const sketches: Record<Sketched, Sketch> = { scale: emptySketch("scale"), mask: emptySketch("mask") };
const isSketched = (stop: Stop): stop is Sketched => stop in sketches;
const stage = stageOf((next) => {
  const stop = STOPS[at];
  if (stop === undefined || !isSketched(stop)) return;
  sketches[stop] = next;
  show();
});
const [number, name] = [h("span", {}), h("b", {})];
const [back, next] = [button("Back", () => go(at - 1)), button("Next", () => go(at + 1))];
find("#stage", HTMLElement).append(
  h("div", { class: "thread-head" }, back, h("p", {}, number, name), next),
  stage.element,
);

const stops = STOPS.map((stop) => {
  const section = find(`[data-stop="${stop}"]`, HTMLElement);
  section.querySelector(".thread-control")?.replaceChildren(questionOf(stop), CONTROLS[stop]);
  return section;
});

function questionOf(stop: Stop): HTMLElement {
  const name = `five-minutes ${stop}`;
  const { shows, ...question } = isSketched(stop) ? SKETCHES[stop] : GUESSES[stop];
  const then = (): void => store.change(shows, "new");
  if (!isSketched(stop)) return guess(name, GUESSES[stop], then);
  return sketching(name, question, then, () => [sketches[stop].bars, BARS[stop](store.state)]);
}
let at = STOPS.indexOf(STOPS.find((stop) => stop === EMBED) ?? store.state.stop);

function show(): void {
  const stop = STOPS[at] ?? "look-up";
  const lab = stops[at]?.querySelector<HTMLAnchorElement>("a.lab");
  const taken = new URLSearchParams(TAKEN[stop](store.state));
  if (lab) lab.hash = taken.toString();
  number.textContent = `${at + 1} of ${STOPS.length} `;
  name.textContent = stops[at]?.querySelector("h2")?.textContent ?? "";
  [back.disabled, next.disabled] = [at === 0, at === STOPS.length - 1];
  stops.forEach((section, index) => {
    section.classList.toggle("here", index === at);
  });
  stage.show(sceneOf(store.state, stop, isSketched(stop) ? sketches[stop] : undefined));
}

/** On a phone the stage is above the text. */
const isBeside = (): boolean => find("#stage", HTMLElement).getBoundingClientRect().left > 100;

/** The line that a stop crosses to become the one on the stage: the middle of what the stage leaves free. */
function follow(): void {
  // Whoever tabs through the head of the page has not left the stop.
  if (EMBED !== "" || document.activeElement?.closest(".skip, .masthead")) return;
  const { bottom } = find("#stage", HTMLElement).getBoundingClientRect();
  const line = isBeside() ? innerHeight / 2 : (Math.min(bottom, innerHeight) + innerHeight) / 2;
  const stop = Math.max(0, stops.filter((section) => section.getBoundingClientRect().top <= line).length - 1);
  if (stop === at) return;
  at = stop;
  const name = STOPS[at];
  // Each begins with the word that its text is about.
  if (name !== undefined) store.change({ stop: name, asker: "it" });
}

function go(to: number, behavior: ScrollBehavior = calm() ? "auto" : "smooth"): void {
  stops[to]?.scrollIntoView({ behavior, block: isBeside() ? "center" : "start" });
}
/** From the stage the keyboard goes on with the stop that it shows, and not with the first. */
find("#stage", HTMLElement).addEventListener("keydown", (event) => {
  const all = document.querySelectorAll("#stage :is(button:enabled, [tabindex='0'])");
  const last = Array.from(all)
    .filter((one) => one.checkVisibility())
    .at(-1);
  if (event.key !== "Tab" || event.shiftKey || event.target !== last || EMBED !== "") return;
  event.preventDefault();
  const first = stops[at]?.querySelector<HTMLElement>(":is(button, input):not([tabindex='-1'])");
  first?.focus({ preventScroll: true });
});
addEventListener("scroll", follow, { passive: true });
addEventListener("resize", follow);
store.listen(({ stop }) => {
  // An address names it.
  if (stop !== STOPS[at] && EMBED === "") go(STOPS.indexOf(stop), "instant");
  show();
});
show();
// The browser brings whoever comes back to where they were.
if (at > 0 && !comesBack()) go(at, "instant");
follow();
if (EMBED !== "") find("#stage", HTMLElement).append(CONTROLS[STOPS[at] ?? "look-up"]);
showEmbedded(find(".thread", HTMLElement));
startPrint(stops, () => store.state);

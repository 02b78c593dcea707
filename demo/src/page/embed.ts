// A picture in the frame of somebody else's page, and keys for those who present. "?embed=walk&at=0.5&lock=heads" shows one picture alone,
// half of the way along, with what is locked as the address says; the page around it may send { at: 0.7 }. With "?present" the arrows step
// the picture in view, and B blanks what is said of it.

import { find, goalOf } from "../ui/dom.js";
import { LAID_OUT } from "../ui/pieces.js";

const asked = new URLSearchParams(location.search);
/** The name of the picture that is shown alone; empty: the page is whole. */
export const EMBED = asked.get("embed") ?? "";

const SCRUBBER = ".board-scrubber:not([hidden]) > input";
/** What moves a picture: its scrubber; without one its first slider, or its first choice. */
const MOVERS = [SCRUBBER, 'input[type="range"]:enabled', 'fieldset input[type="radio"]:enabled'];
const ARROWS = { ArrowRight: 1, ArrowLeft: -1, PageDown: 1, PageUp: -1 } as const;

/** States in which a picture can be seen that is hidden at first, as an address has them. */
const SEEN_WITH: Readonly<Record<string, string>> = {
  curve: "of=salary",
  tastes: "of=movies",
  positions: "kind=sinusoidal",
  layer: "as=layer",
  "fast-weights": "as=layer",
  set: "as=set",
  graph: "as=graph",
  reach: "as=reach",
  cache: "mask=causal",
};

/** As soon as the page begins: nothing else is laid out for a frame. */
export function startEmbed(): void {
  if (EMBED === "" && !asked.has("present")) return;
  document.documentElement.classList.toggle("embed", EMBED !== "");
  const seen = SEEN_WITH[EMBED];
  if (seen !== undefined && !location.hash.includes(seen)) location.replace(`#${location.hash.slice(1)}&${seen}`);
  addEventListener("keydown", (event) => {
    const { target } = event;
    if (target instanceof Element && target.closest("input, textarea, button, [tabindex]") !== null) return;
    if (goalOf(event, { b: true, B: true })) document.documentElement.classList.toggle("blank");
    const way = goalOf(event, ARROWS);
    if (way !== undefined) step(way);
  });
}

/** The picture in view, or the stop beside the stage. */
function step(way: 1 | -1): void {
  const stop = `.thread-head button:${way > 0 ? "last" : "first"}-of-type`;
  const pictures = EMBED === "" ? "[data-picture], .board" : ".embedded";
  if (EMBED === "" && document.querySelector(stop) !== null) find(stop, HTMLButtonElement).click();
  else move(document.querySelectorAll<HTMLElement>(pictures), { way });
}

/** Moves the first of the pictures that can be moved: a step, or to a part of the way, from 0 to 1. */
function move(pictures: Iterable<HTMLElement>, to: { readonly way: 1 | -1 } | { readonly part: number }): void {
  // What stands alone is all in view once it is shrunk.
  const inView = ({ width, bottom, top }: DOMRect): boolean =>
    width > 0 && (EMBED !== "" || (bottom > 0 && top < innerHeight));
  const [input] = MOVERS.flatMap((kind) =>
    Array.from(pictures, (picture) => Array.from(picture.querySelectorAll<HTMLInputElement>(kind))).flat(),
  ).filter((one) => inView(one.getBoundingClientRect()));
  if (input?.type !== "range") {
    const choices = Array.from(input?.closest("fieldset")?.querySelectorAll<HTMLInputElement>("input:enabled") ?? []);
    const chosen = choices.findIndex(({ checked }) => checked);
    choices["way" in to ? chosen + to.way : Math.round(to.part * (choices.length - 1))]?.click();
    return;
  }
  if ("way" in to) {
    // A board has steps of its own, many to a slider.
    const key = { key: to.way > 0 ? "ArrowRight" : "ArrowLeft", bubbles: true, cancelable: true };
    if (!input.dispatchEvent(new KeyboardEvent("keydown", key))) return;
    input[to.way > 0 ? "stepUp" : "stepDown"]();
  } else {
    const [least, most] = [Number(input.min), Number(input.max)];
    input.value = String(least + to.part * (most - least));
  }
  input.dispatchEvent(new Event("input", { bubbles: true }));
}

/** When the room stands. */
export function showEmbedded(root: HTMLElement): void {
  if (EMBED === "") return;
  const named = root.querySelector<HTMLElement>(`[data-picture="${CSS.escape(EMBED)}"]`);
  const whole = named ?? root.querySelector<HTMLElement>("[data-picture]:not([hidden])") ?? root;
  // A board has its scrubber; what has none keeps its controls.
  const picture = whole.querySelector<HTMLElement>(".board:has(.board-scrubber:not([hidden]))") ?? whole;
  picture.classList.add("embedded");
  for (let around = picture.parentElement; around !== null; around = around.parentElement) {
    around.classList.add("around");
  }
  const go = (at: unknown): void => {
    const part = typeof at === "number" || typeof at === "string" ? Number(at) : Number.NaN;
    if (part >= 0 && part <= 1) move([picture], { part });
  };
  addEventListener("message", ({ data }: MessageEvent<unknown>) => {
    if (typeof data === "object" && data !== null && "at" in data) go(data.at);
  });
  if (asked.has("at")) go(asked.get("at"));
  new ResizeObserver(() => shrink(picture)).observe(picture);
  addEventListener("resize", () => shrink(picture));
}

/** Widths that a picture is laid out in, over that of the frame. */
const WIDTHS = [1, 1.25, 1.5, 2, 2.5];

/** The whole picture in the frame, laid out as wide as it is largest then. */
function shrink(picture: HTMLElement): void {
  const layOut = (wide: number): number => {
    picture.style.setProperty("--wide", String(wide));
    for (const board of picture.querySelectorAll(".board")) board.dispatchEvent(new Event(LAID_OUT));
    // Heights are rounded.
    return Math.min(1 / wide, innerHeight / (picture.offsetHeight + 1));
  };
  const parts = WIDTHS.map(layOut);
  const part = Math.max(...parts);
  layOut(WIDTHS[parts.indexOf(part)] ?? 1);
  picture.style.setProperty("--part", part.toFixed(5));
  picture.style.setProperty("--left", `${((innerWidth - picture.offsetWidth * part) / 2).toFixed(0)}px`);
}

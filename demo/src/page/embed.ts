// A picture in the frame of somebody else's page, and keys for those who present. "?embed=walk&at=0.5&lock=heads" shows one picture alone,
// half of the way along, with what is locked as the address says; the page around it may send { at: 0.7 }. With "?present" the arrows step
// the picture in view, and B blanks what is said of it.

import { goalOf } from "../ui/dom.js";
import { LAID_OUT } from "../ui/pieces.js";

const asked = new URLSearchParams(location.search);
/** The name of the picture that is shown alone; empty: the page is whole. */
export const EMBED = asked.get("embed") ?? "";

const SCRUBBER = ".board-scrubber:not([hidden]) > input, .with-slider input";
const ARROWS = {
  ArrowRight: "ArrowRight",
  ArrowLeft: "ArrowLeft",
  PageDown: "ArrowRight",
  PageUp: "ArrowLeft",
} as const;

/** As soon as the page begins: nothing else is laid out for a frame. */
export function startEmbed(): void {
  if (EMBED !== "") document.documentElement.classList.add("embed");
  if (EMBED === "" && !asked.has("present")) return;
  addEventListener("keydown", (event) => {
    const { target } = event;
    if (target instanceof Element && target.closest("input, textarea, button, [tabindex]") !== null) return;
    const root = document.documentElement;
    if (goalOf(event, { b: true, B: true })) root.classList.toggle("blank");
    const arrow = goalOf(event, ARROWS);
    if (arrow !== undefined) step(arrow);
  });
}

/** The scrubber of the picture in view, or the stop beside the stage. */
function step(arrow: "ArrowRight" | "ArrowLeft"): void {
  const stop = document.querySelector<HTMLButtonElement>(
    `.thread-head button:${arrow === "ArrowRight" ? "last" : "first"}-of-type`,
  );
  if (stop !== null) {
    stop.click();
    return;
  }
  const inView = Array.from(document.querySelectorAll<HTMLInputElement>(SCRUBBER)).find((input) => {
    const { top, bottom, width } = input.getBoundingClientRect();
    return width > 0 && bottom > 0 && top < innerHeight;
  });
  inView?.dispatchEvent(new KeyboardEvent("keydown", { key: arrow, bubbles: true, cancelable: true }));
}

/** When the room stands. */
export function showEmbedded(root: HTMLElement): void {
  if (EMBED === "") return;
  const named = root.querySelector<HTMLElement>(`[data-picture="${CSS.escape(EMBED)}"]`);
  const whole = named ?? root.querySelector<HTMLElement>("[data-picture]") ?? root;
  // A board has its scrubber; what has none keeps its controls.
  const picture = whole.querySelector<HTMLElement>(".board:has(.board-scrubber:not([hidden]))") ?? whole;
  picture.classList.add("embedded");
  for (let around = picture.parentElement; around !== null; around = around.parentElement) {
    around.classList.add("around");
  }
  const scrubber = picture.querySelector<HTMLInputElement>(SCRUBBER);
  const go = (at: unknown): void => {
    const part = typeof at === "number" || typeof at === "string" ? Number(at) : Number.NaN;
    if (scrubber === null || !(part >= 0 && part <= 1)) return;
    const [least, most] = [Number(scrubber.min), Number(scrubber.max)];
    scrubber.value = String(least + part * (most - least));
    scrubber.dispatchEvent(new Event("input", { bubbles: true }));
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
    return Math.min(1 / wide, innerHeight / Math.max(1, picture.offsetHeight));
  };
  const parts = WIDTHS.map(layOut);
  const part = Math.max(...parts);
  layOut(WIDTHS[parts.indexOf(part)] ?? 1);
  picture.style.setProperty("--part", part.toFixed(3));
  picture.style.setProperty("--left", `${((innerWidth - picture.offsetWidth * part) / 2).toFixed(0)}px`);
}

// How strongly each character of the text moves the last character of the date, with attention and without: the length of a gradient, as bars.

import type { Engine } from "../../src/engine/engine.js";
import { h, svg } from "../../src/ui/dom.js";
import { LongWork } from "../../src/ui/long-work.js";
import { apart } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import type { Pair } from "./learn.js";
import { KIND_NAMES, KINDS, type Kind } from "./training.js";

/** Pixels: the highest bar, and the letters between both rows of bars. */
const [HIGH, LETTERS] = [90, 26];
const HEIGHT = 2 * (HIGH + 20) + LETTERS;
const TEXT = "the 3rd of may 1997 before rain came over hills";

/** `trained`: both networks, where they were trained here. */
export function gradientsPicture(engine: Engine, trained: () => Pair | undefined): HTMLElement {
  const drawing = svg("svg", { class: "reach", role: "img" });
  let fresh: Pair | undefined;
  let reach: Readonly<Record<Kind, readonly number[]>> | undefined;

  async function sendBack(): Promise<string> {
    const heed = await engine.started();
    const { freshPair, reachOf } = await import("./learn.js");
    const own = trained();
    fresh ??= freshPair(heed);
    const { dot, none } = await reachOf(own ?? fresh, TEXT);
    reach = { dot, none };
    draw();
    const which = own === undefined ? "Before training" : "After training";
    return `${which}, “3” gets ${apart(dot[4] ?? 0)} with attention, ${apart(none[4] ?? 0)} without.`;
  }

  function draw(): void {
    const width = drawing.clientWidth;
    if (width === 0) return;
    const cell = width / TEXT.length;
    const rows = KINDS.map((kind, row) => {
      const lengths = reach?.[kind] ?? [];
      const most = Math.max(0, ...lengths);
      const bars = lengths.map((length, index) => {
        const size = (HIGH * length) / most;
        const y = row === 0 ? 20 + HIGH - size : 20 + HIGH + LETTERS;
        const [x, height] = [(index + 0.1) * cell, Math.max(0.5, size)];
        return svg("rect", { class: kind, x, y, width: 0.8 * cell, height });
      });
      const found = reach === undefined ? "nothing was sent back yet" : `at most ${apart(most)}`;
      const name = label(0, row === 0 ? 14 : HEIGHT - 4, `${KIND_NAMES[kind]}: ${found}`, "start");
      return {
        drawn: [...bars, name],
        said: `${KIND_NAMES[kind]}: ${apart(lengths[0] ?? 0)} at the first character, ${found}`,
      };
    });
    drawing.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    const said = reach === undefined ? "No gradient was sent back yet." : rows.map((row) => row.said).join("; ");
    drawing.setAttribute("aria-label", said);
    drawing.replaceChildren(
      ...rows.flatMap(({ drawn }) => drawn),
      ...Array.from(TEXT, (letter, index) => label((index + 0.5) * cell, HIGH + 38, letter, "middle")),
    );
  }

  const { element, say } = picture({
    name: "gradients",
    title: "How far does a gradient travel?",
    body: [new LongWork({ name: "Send a gradient back", run: sendBack }).line(), h("div", {}, drawing)],
    data: () => ({ text: TEXT, reach }),
  });
  say(
    "The last digit of the day should learn from “3rd”, far back. Without attention its gradient passes every state in between, and each takes its part. With attention every state is one step away.",
  );
  new ResizeObserver(draw).observe(drawing);
  return element;
}

function label(x: number, y: number, words: string, anchor: string): SVGElement {
  return svg("text", { x, y, "text-anchor": anchor }, words);
}

// A large sentence with an arc from one word to all that it attends to; what they were before a word changed stands around them, hollow.
// Where the sentence takes several lines, arcs go between them.

import { button, h, svg } from "../../src/ui/dom.js";
import { percent } from "../../src/ui/numbers.js";
import type { Row } from "./reading.js";

export interface Asked {
  readonly words: readonly string[];
  /** The word that attends, counted from 1; 0: none. */
  readonly asker: number;
  /** undefined: nobody has answered. */
  readonly row?: Row | undefined;
  /** The same before a word changed. */
  readonly before?: Row | undefined;
  /** What is ringed, 0 being none, or underlined by dots. The ringed one is what was pressed; without one the asker was. */
  readonly ringed?: number;
  readonly dotted?: readonly number[];
  /** What follows the word before it without a space, as a full stop does. */
  readonly tight?: readonly number[];
}

/** Weights below them have no arc, and no figure under their word. */
const LEAST_ARC = 0.01;
const LEAST_FIGURE = 0.03;
/** Pixels: the arc of all the weight, and what it leaves free above a word and below it, where the figure stands. */
const THICKEST = 30;
const [ABOVE, BELOW] = [2, 18];

interface Part {
  readonly element: HTMLElement;
  readonly figure: HTMLElement;
  readonly arc: SVGPathElement;
  readonly hollow: SVGPathElement;
}

interface Parts {
  /** Is the last word. */
  readonly last?: HTMLElement;
  /** A word was, counted from 1. Without it words are no buttons. */
  readonly pressed?: (place: number) => void;
  /** Has the same text, and lies in the place of the words while one types. */
  readonly field?: HTMLElement;
}

export function arcs({ last, pressed, field }: Parts) {
  const drawing = svg("svg", { "aria-hidden": "true" });
  const line = h("div", { class: "asked-line" });
  const text = field === undefined ? line : h("div", { class: "asked-text" }, line, field);
  const element = h("div", { class: "asked" }, drawing, text);
  let shown: Asked = { words: [], asker: 0 };
  /** The start mark, then each word. */
  let parts: readonly Part[] = [];

  function build({ words, asker, tight = [] }: Asked): void {
    const start = h("span", {}, "start");
    const spoken = words.map((word, index) =>
      pressed === undefined || (last !== undefined && index + 1 === asker)
        ? h("span", { class: "asked-word" }, word)
        : button(word, () => pressed(index + 1), "asked-word"),
    );
    parts = [start, ...spoken, ...(last === undefined ? [] : [last])].map((element) => {
      const figure = h("small", {});
      element.append(figure);
      return { element, figure, arc: svg("path", { pathLength: 1 }), hollow: svg("path", { class: "hollow" }) };
    });
    drawing.replaceChildren(...parts.flatMap(({ arc, hollow }) => [arc, hollow]));
    line.replaceChildren(h("span", { class: "asked-start" }, start));
    for (const [place, { element }] of parts.entries()) {
      if (place === 0) continue;
      element.classList.toggle("tight", tight.includes(place));
      line.append(tight.includes(place) ? "" : " ", element);
    }
  }

  function layOut(): void {
    const own = element.getBoundingClientRect();
    if (own.width === 0) return;
    drawing.setAttribute("viewBox", `0 0 ${own.width} ${own.height}`);
    // Each word as the line down its middle.
    const spots = parts.map(({ element }) => {
      const { x, y, width, height } = element.getBoundingClientRect();
      return new DOMRect(x + width / 2 - own.x, y - own.y, 0, height);
    });
    const from = spots[shown.asker];
    if (from === undefined || shown.asker === 0) return;
    const isBeside = ({ top }: DOMRect): boolean => Math.abs(top - from.top) < from.height / 2;
    const room = spots.every(isBeside) ? from.top - THICKEST : from.height / 2;
    for (const [place, to] of spots.entries()) {
      const { arc, hollow } = parts[place] ?? {};
      const isAcross = !isBeside(to);
      const curve = (by: number): string => (isAcross ? acrossLines(from, to, by) : arch(from, to, room, by));
      const [weight = 0, before = weight] = [shown.row?.[place], shown.before?.[place]];
      const isHollow = place !== shown.asker && before >= LEAST_ARC && Math.abs(weight - before) >= LEAST_FIGURE;
      const half = (before * THICKEST) / 2;
      if (place !== shown.asker) arc?.setAttribute("d", curve(0));
      hollow?.setAttribute("d", isHollow ? `${curve(half)} ${curve(-half)}` : "");
      arc?.classList.toggle("across", isAcross);
    }
  }

  new ResizeObserver(layOut).observe(line);
  return {
    element,
    show: (next: Asked): void => {
      const { words, asker, row, before, ringed, dotted = [], tight = [] } = next;
      const isOther = parts.length === 0 || `${words}\n${tight}` !== `${shown.words}\n${shown.tight ?? []}`;
      if (isOther) build(next);
      const isMoved = isOther || asker !== shown.asker || (before ?? shown.before) !== undefined;
      shown = next;
      element.classList.toggle("answered", row !== undefined);
      // Models that write on have none.
      element.classList.toggle("startless", row?.[0] === 0);
      for (const [place, { element, figure, arc }] of parts.entries()) {
        const weight = place === asker && place > 0 ? 0 : (row?.[place] ?? 0);
        if (element instanceof HTMLButtonElement) element.ariaPressed = String(place === (ringed ?? asker));
        element.classList.toggle("asker", place === asker && place > 0);
        element.classList.toggle("ringed", place === ringed && place > 0);
        element.classList.toggle("noted", dotted.includes(place));
        figure.replaceChildren(...figureOf(row?.[place] ?? 0, row && before?.[place]));
        arc.style.setProperty("--weight", weight < LEAST_ARC ? "0" : weight.toFixed(3));
        arc.style.setProperty("stroke-width", `${(weight * THICKEST).toFixed(2)}px`);
      }
      if (isMoved) layOut();
    },
  };
}

/** The weight, and by how many points it differs from what it was. */
function figureOf(weight: number, before: number | undefined): readonly (Node | string)[] {
  const points = Math.round(100 * (weight - (before ?? weight)));
  const isSeen = weight >= LEAST_FIGURE || Math.abs(points) >= 100 * LEAST_FIGURE;
  if (!isSeen) return [];
  const by = points > 0 ? `+${points}` : `−${-points}`;
  return points === 0 ? [percent(weight)] : [percent(weight), h("i", { class: points > 0 ? "more" : "less" }, by)];
}

/** Over one line, `room` pixels high at most; `by`: so far outside of it, or inside. */
function arch(from: DOMRect, to: DOMRect, room: number, by: number): string {
  // A cubic rises to three quarters of its handles.
  const rise = (Math.min(room, 24 + 0.42 * Math.abs(to.x - from.x)) + by) / 0.75;
  const out = by * Math.sign(to.x - from.x);
  const [x0, x1, y0, y1] = [from.x - out, to.x + out, from.top - ABOVE, to.top - ABOVE];
  return `M ${x0} ${y0} C ${x0} ${y0 - rise}, ${x1} ${y1 - rise}, ${x1} ${y1}`;
}

function acrossLines(from: DOMRect, to: DOMRect, by: number): string {
  const isUp = to.top < from.top;
  const [y0, y1] = isUp ? [from.top - ABOVE, to.bottom + BELOW] : [from.bottom + BELOW, to.top - ABOVE];
  const bend = Math.sign(y1 - y0) * Math.max(24, 0.45 * Math.abs(y1 - y0));
  const [x0, x1] = [from.x + by, to.x + by];
  return `M ${x0} ${y0} C ${x0} ${y0 + bend}, ${x1} ${y1 - bend}, ${x1} ${y1}`;
}

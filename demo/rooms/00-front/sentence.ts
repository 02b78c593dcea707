// A large sentence whose last word is a wheel, with an arc from one word to all that it attends to. Where the sentence takes several
// lines, arcs go between them.

import { button, h, svg } from "../../src/ui/dom.js";
import { percent } from "../../src/ui/numbers.js";

interface SentenceParts {
  readonly words: readonly string[];
  readonly endings: readonly string[];
  /** The word that attends. */
  readonly asker: string;
  readonly turned: (ending: string) => void;
  /** A word was pressed, counted from 1; without it words are no buttons. */
  readonly guessed?: (place: number) => void;
}

/** Weights below them have no arc, and no figure under their word. */
const LEAST_ARC = 0.01;
const LEAST_FIGURE = 0.03;
/** Pixels: the arc of all the weight, and what it leaves free above a word and below it, where the figure stands. */
const THICKEST = 30;
const [ABOVE, BELOW] = [2, 18];

export function largeSentence({ words, endings, asker: asks, turned, guessed }: SentenceParts) {
  const wheel = wheelOf(endings, turned);
  const asker = 1 + words.indexOf(asks);
  const spoken = words.map((word, index) =>
    guessed === undefined || word === asks
      ? h("span", { class: word === asks ? "asked-word asker" : "asked-word" }, word)
      : button(word, () => guessed(index + 1), "asked-word"),
  );
  const start = h("span", {}, "start");
  /** The start mark, then each word; the wheel is the last. */
  const parts = [start, ...spoken, wheel.element].map((element) => {
    const figure = h("small", {});
    element.append(figure);
    return { element, figure, arc: svg("path", { pathLength: 1 }) };
  });
  const drawing = svg("svg", { "aria-hidden": "true" }, ...parts.map(({ arc }) => arc));
  const line = h("div", { class: "asked-line" }, h("span", { class: "asked-start" }, start, " "));
  for (const word of [...spoken, wheel.element]) line.append(word, " ");
  const element = h("div", { class: "asked" }, drawing, line);

  function layOut(): void {
    const own = element.getBoundingClientRect();
    if (own.width === 0) return;
    drawing.setAttribute("viewBox", `0 0 ${own.width} ${own.height}`);
    // Each word as the line down its middle.
    const spots = parts.map(({ element }) => {
      const { x, y, width, height } = element.getBoundingClientRect();
      return new DOMRect(x + width / 2 - own.x, y - own.y, 0, height);
    });
    const from = spots[asker];
    if (from === undefined) return;
    const isBeside = ({ top }: DOMRect): boolean => Math.abs(top - from.top) < from.height / 2;
    const room = spots.every(isBeside) ? from.top - THICKEST : from.height / 2;
    for (const [place, to] of spots.entries()) {
      if (place === asker) continue;
      const isAcross = !isBeside(to);
      const arc = parts[place]?.arc;
      arc?.setAttribute("d", isAcross ? acrossLines(from, to) : arch(from, to, room));
      arc?.classList.toggle("across", isAcross);
    }
  }

  new ResizeObserver(layOut).observe(line);
  return {
    element,
    /** `weights`: the start mark's first, then each word's; undefined as long as there is no answer. `guess`: counted from 1; 0: none. */
    show: (ending: string, weights: readonly number[] | undefined, guess = 0): void => {
      element.classList.toggle("answered", weights !== undefined);
      wheel.show(ending, weights !== undefined);
      for (const [place, { element, figure, arc }] of parts.entries()) {
        const weight = weights?.[place] ?? 0;
        if (element instanceof HTMLButtonElement) element.setAttribute("aria-pressed", String(place === guess));
        figure.textContent = weight >= LEAST_FIGURE ? percent(weight) : "";
        arc.style.setProperty("--weight", weight < LEAST_ARC ? "0" : weight.toFixed(3));
        arc.style.setProperty("stroke-width", `${(weight * THICKEST).toFixed(2)}px`);
      }
    },
  };
}

/** Over one line, `room` pixels high at most. */
function arch(from: DOMRect, to: DOMRect, room: number): string {
  // A cubic rises to three quarters of its handles.
  const rise = Math.min(room, 24 + 0.42 * Math.abs(to.x - from.x)) / 0.75;
  const [y0, y1] = [from.top - ABOVE, to.top - ABOVE];
  return `M ${from.x} ${y0} C ${from.x} ${y0 - rise}, ${to.x} ${y1 - rise}, ${to.x} ${y1}`;
}

function acrossLines(from: DOMRect, to: DOMRect): string {
  const isUp = to.top < from.top;
  const [y0, y1] = isUp ? [from.top - ABOVE, to.bottom + BELOW] : [from.bottom + BELOW, to.top - ABOVE];
  const bend = Math.sign(y1 - y0) * Math.max(24, 0.45 * Math.abs(y1 - y0));
  return `M ${from.x} ${y0} C ${from.x} ${y0 + bend}, ${to.x} ${y1 - bend}, ${to.x} ${y1}`;
}

/** Pixels that a finger drags for one word. */
const NOTCH = 26;

let wheels = 0;

/** Radio buttons above each other, of which the chosen one stands in the line. Keyboard and screen readers know it. */
function wheelOf(values: readonly string[], turned: (value: string) => void) {
  const name = `wheel-${++wheels}`;
  const inputs = values.map((value) => {
    const input = h("input", { type: "radio", name, value });
    input.addEventListener("change", () => turned(value));
    return input;
  });
  const labels = inputs.map((input) => h("label", {}, input, h("span", {}, input.value)));
  const element = h("fieldset", { class: "wheel" }, h("legend", { class: "spoken" }, "The last word"), ...labels);
  let draggedFrom: number | undefined;
  element.addEventListener("pointerdown", ({ clientY }) => {
    draggedFrom = clientY;
  });
  element.addEventListener("pointermove", ({ clientY, buttons }) => {
    if (draggedFrom === undefined || buttons === 0 || Math.abs(clientY - draggedFrom) < NOTCH) return;
    const by = clientY < draggedFrom ? 1 : -1;
    draggedFrom = clientY;
    const next = values.at((inputs.findIndex(({ checked }) => checked) + by) % values.length);
    if (next !== undefined) turned(next);
  });
  addEventListener("pointerup", () => {
    draggedFrom = undefined;
  });
  return {
    element,
    show: (value: string, isOpen: boolean): void => {
      const [count, chosen] = [values.length, values.indexOf(value)];
      element.disabled = !isOpen;
      for (const [index, label] of labels.entries()) {
        // The nearest way around; two words make no circle.
        const ahead = (index - chosen + count) % count;
        const place = count > 2 && ahead > count / 2 ? ahead - count : ahead;
        label.style.setProperty("--place", String(place));
        label.classList.toggle("far", Math.abs(place) > 1);
        label.classList.toggle("before", place < 0);
      }
      for (const input of inputs) input.checked = input.value === value;
    },
  };
}

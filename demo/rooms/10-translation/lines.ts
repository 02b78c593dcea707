// The picture of the idea: the characters of a text above, those of the date below, and between them ink lines as thick as the attention
// weights. The character that is pointed at, or was written last, shows its own lines alone, with their figures.

import { at } from "../../src/model/matrix.js";
import { strongestOf } from "../../src/model/strongest.js";
import { Board, figure, type Shape, shape, type View } from "../../src/ui/board.js";
import { h, oneStop } from "../../src/ui/dom.js";
import { percent } from "../../src/ui/numbers.js";
import { ANSWER, type Reading } from "./reading.js";

/** Pixels: a line of all the weight, the lines of text, and how far they are from the date. */
const THICKEST = 14;
const [LINE, DROP] = [50, 150];
const [NARROWEST, WIDEST] = [14, 34];
/** Of a character of the date, as in translation.css. */
const [OUTPUT, SMALL_OUTPUT] = [44, 34];
const SMALL = 600;
/** Of a letter, as in translation.css. */
const LETTER = 24;
const SECONDS_A_CHARACTER = 0.5;
/** Weights below them have no line, and no figure. */
const [LEAST_LINE, LEAST_FIGURE] = [0.01, 0.03];

/** `pointed`: at a character of the date; `held`: it was pressed, or the keyboard came to it. `moved`: so many are to be written. */
export function linesOf(pointed: (character: number, held: boolean) => void, moved: (written: number) => void) {
  const buttons = Array.from({ length: ANSWER }, (_, character) => buttonOf(character));
  const label = "The date, character by character";
  const date = h("div", { class: "written", role: "group", "aria-label": label }, ...buttons);
  oneStop(date, buttons);
  const steps = Array.from({ length: ANSWER + 1 }, (_, count) => `${count} of ${ANSWER} written`);
  const board = new Board({
    steps,
    seconds: SECONDS_A_CHARACTER,
    moved: (at) => {
      if (Math.round(at) !== written) moved(Math.round(at));
    },
  });
  board.element.firstElementChild?.append(date);
  let reading: Reading | undefined;
  let [written, hovered, held] = [ANSWER, -1, -1];

  function buttonOf(character: number): HTMLButtonElement {
    const made = h("button", { type: "button" });
    const look = (isHeld: boolean, now: number) => (): void => {
      if (isHeld) held = now;
      else hovered = now;
      draw();
      if (now >= 0) pointed(now, isHeld);
    };
    made.addEventListener("pointerenter", look(false, character));
    made.addEventListener("pointerleave", look(false, -1));
    for (const type of ["focus", "click"]) made.addEventListener(type, look(true, character));
    made.addEventListener("blur", look(true, -1));
    return made;
  }

  /** The character whose lines are shown alone; -1: all are shown. */
  function chosen(): number {
    const pointedAt = hovered >= 0 ? hovered : held;
    if (pointedAt >= 0 && pointedAt < written) return pointedAt;
    return written < ANSWER ? written - 1 : -1;
  }

  function draw(at = board.at): void {
    if (reading === undefined) return;
    const [now, count, alone] = [reading, written, chosen()];
    for (const [character, button] of buttons.entries()) {
      const isWritten = character < written;
      button.textContent = isWritten ? (reading.date[character] ?? "") : "·";
      button.disabled = !isWritten;
      button.setAttribute("aria-label", isWritten ? saidOf(reading, character) : "not written yet");
      button.classList.toggle("chosen", character === alone);
    }
    board.show((_, width) => inkOf(now, count, alone, width), at);
  }

  return {
    element: h("div", { class: "lines" }, board.element),
    chosen,
    show: (now: Reading, count: number) => {
      [reading, written] = [now, count];
      draw(Math.round(board.at) === count ? board.at : count);
    },
  };
}

function inkOf({ text, weights }: Reading, written: number, alone: number, width: number): View {
  const rows = wrapped(text, Math.floor(width / NARROWEST));
  const cell = Math.min(WIDEST, width / Math.max(1, ...rows.map((row) => row.length)));
  const height = rows.length * LINE + DROP;
  const x = (place: number, count: number, room: number): number => width / 2 + (place - (count - 1) / 2) * room;
  const letters = rows.flatMap((row, line) =>
    Array.from(row, (letter, column) => ({ letter, x: x(column, row.length, cell), y: LINE * (line + 1) - 14 })),
  );
  const outputWidth = width < SMALL ? SMALL_OUTPUT : OUTPUT;
  const ink = { stroke: "var(--share)", "stroke-linecap": "round", fill: "none", opacity: alone < 0 ? 0.5 : 0.85 };
  const shown = alone < 0 ? Array.from({ length: written }, (_, character) => character) : [alone];
  const ways = shown.flatMap((character) => {
    const to = x(character, ANSWER, outputWidth);
    return letters.flatMap(({ x, y }, index): readonly Shape[] => {
      const weight = at(weights, character, index);
      const half = (y + 9 + height) / 2;
      const d = `M${x} ${y + 9}C${x} ${half} ${to} ${half} ${to} ${height}`;
      const look = { ...ink, d, "stroke-width": (THICKEST * weight).toFixed(2) };
      return weight < LEAST_LINE ? [] : [shape("path", `${character}.${index}`, look)];
    });
  });
  const scale = (Math.min(30, cell * 1.25) / LETTER).toFixed(3);
  const texts = letters.flatMap(({ letter, x, y }, index): readonly Shape[] => {
    const weight = alone < 0 ? 0 : at(weights, alone, index);
    const look = { class: "letter", transform: `translate(${x} ${y}) scale(${scale})` };
    const above = figure(`f${index}`, String(Math.round(100 * weight)), [x, y - 25], { class: "figure board-small" });
    return [
      ...(letter === " " ? [] : [figure(`l${index}`, letter, [0, 0], look)]),
      ...(weight < LEAST_FIGURE ? [] : [above]),
    ];
  });
  return { height, shapes: [...ways, ...texts], said: text };
}

/** Lines of so many characters at most, which end with words, and are the whole text together. */
function wrapped(text: string, most: number): readonly string[] {
  if (text.length <= most) return [text];
  const space = text.lastIndexOf(" ", most - 1) + 1;
  const end = space > 0 ? space : most;
  return [text.slice(0, end), ...wrapped(text.slice(end), most)];
}

/** "“3” looks at “r” 42 %, “d” 30 %": the three largest weights. */
export function saidOf({ text, date, weights }: Reading, character: number): string {
  const all = Array.from(text, (_, index) => at(weights, character, index));
  const looks = strongestOf(all, 3)
    .filter((index) => (all[index] ?? 0) >= LEAST_FIGURE)
    .map((index) => `${nameOf(text[index] ?? "")} ${percent(all[index] ?? 0)}`);
  return `${nameOf(date[character] ?? "")} looks at ${looks.join(", ")}`;
}

export const nameOf = (letter: string): string => (letter === " " ? "the space" : `“${letter}”`);

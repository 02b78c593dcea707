// How strongly each character of the text moves the last character of the date, with attention and without: the length of a gradient, as bars.

import type { Engine } from "../../src/engine/engine.js";
import { Board, figure, shape, type View } from "../../src/ui/board.js";
import { LongWork } from "../../src/ui/controls.js";
import { apart } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import type { Pair } from "./learn.js";
import { KIND_NAMES, KINDS, type Kind } from "./training.js";

/** Pixels: the highest bar, and the letters between both rows of bars. */
const [HIGH, LETTERS] = [90, 26];
const HEIGHT = 2 * (HIGH + 20) + LETTERS;
const FILLS: Readonly<Record<Kind, string>> = { dot: "var(--share)", none: "var(--key)" };
const TEXT = "the 3rd of may 1997 before rain came over hills";

/** `trained`: both networks, where they were trained here. */
export function gradientsPicture(engine: Engine, trained: () => Pair | undefined): HTMLElement {
  const board = new Board({ steps: [""] });
  let fresh: Pair | undefined;
  let reach: Readonly<Record<Kind, readonly number[]>> | undefined;

  async function sendBack(): Promise<string> {
    const heed = await engine.started();
    const { freshPair, reachOf } = await import("./learn.js");
    const own = trained();
    fresh ??= freshPair(heed);
    const { dot, none } = await reachOf(own ?? fresh, TEXT);
    reach = { dot, none };
    board.show(view);
    const which = own === undefined ? "Before training" : "After training";
    return `${which}, “3” gets ${apart(dot[4] ?? 0)} with attention, ${apart(none[4] ?? 0)} without.`;
  }

  function view(_: number, width: number): View {
    const cell = width / TEXT.length;
    /** Of both: the bars have one scale. */
    const longest = Math.max(0, ...(reach?.dot ?? []), ...(reach?.none ?? []));
    const rows = KINDS.map((kind, row) => {
      const lengths = reach?.[kind] ?? [];
      const most = Math.max(0, ...lengths);
      const bars = lengths.map((length, index) => {
        const size = (HIGH * length) / longest;
        const y = row === 0 ? 20 + HIGH - size : 20 + HIGH + LETTERS;
        const [x, height] = [(index + 0.1) * cell, Math.max(0.5, size)];
        return shape("rect", `${kind} ${index}`, { class: kind, x, y, width: 0.8 * cell, height, fill: FILLS[kind] });
      });
      const found = reach === undefined ? "nothing was sent back yet" : `at most ${apart(most)}`;
      const name = shape("text", kind, { x: 0, y: row === 0 ? 14 : HEIGHT - 4 }, `${KIND_NAMES[kind]}: ${found}`);
      return {
        drawn: [...bars, name],
        said: `${KIND_NAMES[kind]}: ${apart(lengths[0] ?? 0)} at the first character, ${found}`,
      };
    });
    const letters = Array.from(TEXT, (letter, index) =>
      figure(String(index), letter, [(index + 0.5) * cell, HIGH + 38]),
    );
    const said = reach === undefined ? "No gradient was sent back yet." : rows.map((row) => row.said).join("; ");
    return { height: HEIGHT, shapes: [...rows.flatMap(({ drawn }) => drawn), ...letters], said };
  }

  const { element, say } = picture({
    name: "gradients",
    title: "How far does a gradient travel?",
    body: [new LongWork({ name: "Send a gradient back", run: sendBack }).line(), board.element],
    data: () => ({ text: TEXT, reach }),
  });
  say(
    "The last digit of the day should learn from “3rd”, far back. Without attention its gradient passes every state in between (backpropagation through time), and each takes its part. With attention every state is one step away.",
  );
  board.show(view);
  return element;
}

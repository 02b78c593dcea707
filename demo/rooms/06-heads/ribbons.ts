// V's columns as ribbons that part into heads, each with arcs of its own, come together and are mixed. Pure.

import { at as entry, type Matrix } from "../../src/model/matrix.js";
import { strongestOf } from "../../src/model/strongest.js";
import { during, figure, mix, type Shape, shape, type View } from "../../src/ui/board.js";
import { percent } from "../../src/ui/numbers.js";
import type { HeadsScene } from "./scene.js";
import { STEPS, type Step, WIDTH } from "./state.js";

/** Not the one of keys, which is close to that of numbers below zero. */
const TONES = ["query", "value", "share", "soft"] as const;
/** Pixels. */
const [LABEL, TOP, ROW, LOW_ROW, WIDEST, THREADS] = [62, 22, 32, 14, 44, 50];
const HEIGHT = TOP + 11 * ROW + 6;
/** A smaller weight has no figure. */
const SAID = 0.1;
/** A word among eleven that nothing sets apart has a smaller one. */
const EVEN = 0.15;

export const STEP_NAMES: Readonly<Record<Step, string>> = {
  project: "columns of V",
  split: "cut into heads",
  attend: "attend",
  join: "side by side",
  mix: "mixed into the output",
};

/** Which heads have which colour. */
export function headTones(count: number): Readonly<Record<string, string>> {
  const heads = (tone: number): readonly number[] =>
    Array.from({ length: count }, (_, head) => head + 1).filter((head) => (head - 1) % TONES.length === tone);
  const named = TONES.slice(0, count).map((tone, index) => [tone, `head ${heads(index).join(", ")}`] as const);
  return { ...Object.fromEntries(named), below: "below 0" };
}

const toneOf = (head: number): string => `tone-${TONES[head % TONES.length]}`;

/** An arc beside a sentence that runs downwards. */
export function arc(x: number, [from, to]: readonly [number, number], out: number): string {
  const bend = x + out * (0.5 + 0.8 * Math.min(1, Math.abs(from - to) / HEIGHT));
  return `M${x} ${from}C${bend} ${from} ${bend} ${to} ${x} ${to}`;
}

type Cell = Shape["attributes"] & { readonly value: number };

export function ribbons(scene: HeadsScene, asker: number, at: number, width: number): View {
  const { words, walk, state, joined, mixed } = scene;
  const { headWidth: each, featureNames: features } = walk;
  const apart = during(at, 0, 1) * (1 - during(at, 2, 3));
  // Y comes when the rest has made room.
  const [read, down] = [during(at, 1, 2), during(at, 3.4, 4)];
  const lanes = lanesOf(each, width, apart);
  const row = mix(ROW, LOW_ROW, during(at, 3, 3.4));
  const middle = (word: number): number => TOP + (word + 0.5) * row;
  const end = TOP + words.length * row;
  const round = Math.round(at);
  const headOf = (col: number): number => Math.floor(col / each);
  const valueAt = (word: number, col: number): number => {
    const own = walk.heads[headOf(col)]?.v ?? joined;
    return mix(entry(own, word, col % each), entry(joined, word, col), read);
  };
  const nameOf = (word: number, col: number): string => `${round < 2 ? "V" : "O"}-${headOf(col)}.${word}.${col % each}`;
  const columns = Array.from({ length: WIDTH }, (_, col) => col);
  const cells = (key: string, [top, height]: readonly [number, number], cellAt: (word: number, col: number) => Cell) =>
    words.flatMap((_, word) =>
      columns.map((col) => {
        const place = { x: lanes.left(col), y: top + word * height, width: Math.max(0, lanes.column - 1.5), height };
        const { value, ...look } = cellAt(word, col);
        const depth = 0.1 + 0.8 * Math.min(1, Math.abs(value));
        const below = value < -1e-9 ? { class: "tone-below" } : {};
        return shape("rect", `${key}${word}.${col}`, { ...place, ...look, ...below, "fill-opacity": depth });
      }),
    );
  const heads = walk.heads.map((_, head) => head);
  const names = [
    ...columns.map((col) => figure(`f${col}`, features[col] ?? "", [lanes.middle(col, 1), 13], { opacity: 1 - apart })),
    ...heads.map((head) => {
      const [look, title] = [{ class: toneOf(head), opacity: apart }, `${lanes.room < 50 ? "" : "head "}${head + 1}`];
      return figure(`t${head}`, title, [lanes.middle(head * each, each), 13], look);
    }),
  ];
  const seen = read * apart > 0 ? heads : [];
  const arcs = seen.flatMap((head) =>
    words.flatMap((_, word): readonly Shape[] => {
      const weight = entry(walk.heads[head]?.weights ?? joined, asker, word);
      const look = { opacity: read * apart, "data-pick": `A-${head}.${asker}.${word}` };
      const d = arc(lanes.left(head * each) + each * lanes.column + 1, [middle(asker), middle(word)], lanes.arcs);
      const wide = Math.max(0.4, weight * Math.min(14, lanes.arcs / 3));
      const thread = { ...look, ...grown(read), d, class: `${toneOf(head)} board-arc`, "stroke-width": wide };
      const place = [lanes.left(head * each) - 4, middle(word) + 4] as const;
      const said = { ...look, class: `${toneOf(head)} board-small`, "text-anchor": "end" };
      return [
        ...(word === asker ? [] : [shape("path", `a${head}.${word}`, thread)]),
        ...(weight >= SAID && lanes.room > 62 ? [figure(`p${head}.${word}`, percent(weight), place, said)] : []),
      ];
    }),
  );
  const threads = columns.flatMap((from) =>
    columns.flatMap((to) => {
      const weight = entry(state.mix, from, to);
      if (weight === 0 || down === 0) return [];
      const [x1, x2, half] = [lanes.middle(from, 1), lanes.middle(to, 1), THREADS / 2];
      const d = `M${x1} ${end}C${x1} ${end + half} ${x2} ${end + half} ${x2} ${end + THREADS}`;
      const tone = `${weight < 0 ? "tone-below" : toneOf(headOf(from))} board-arc`;
      const look = { "stroke-width": Math.min(9, 5 * Math.abs(weight)), "data-pick": `Wo-0.${from}.${to}` };
      return shape("path", `w${from}.${to}`, { d, class: tone, ...look, ...grown(down) });
    }),
  );
  const rows = (key: string, top: number, high: number, look: (index: number) => Shape["attributes"]) =>
    words.map((word, index) =>
      figure(`${key}${index}`, word, [0, top + (index + 0.5) * high + 4], { "text-anchor": "start", ...look(index) }),
    );
  const shapes = [
    ...cells("x", [TOP, row], (word, col) => {
      return { value: valueAt(word, col), class: toneOf(headOf(col)), "data-pick": nameOf(word, col) };
    }),
    ...names,
    ...arcs,
    ...threads,
    ...rows("l", TOP, row, (index) => ({ class: index === asker ? "asking" : "", "data-pick": `word.${index}` })),
  ];
  if (down > 0) {
    const mixedAt = (word: number, col: number): Cell => {
      return { value: entry(mixed, word, col), opacity: down, "data-pick": `Y-0.${word}.${col}` };
    };
    shapes.push(...cells("y", [end + THREADS, LOW_ROW], mixedAt));
    shapes.push(...rows("yl", end + THREADS, LOW_ROW, () => ({ opacity: down })));
  }
  return { height: HEIGHT, shapes, said: textOf(scene, asker, STEPS[round] ?? "mix") };
}

/** Where columns and heads stand: together, apart, or on the way. */
function lanesOf(headWidth: number, width: number, apart: number) {
  const [count, free] = [WIDTH / headWidth, width - LABEL];
  const room = free / count;
  const figures = room > 62 ? 34 : 2;
  const arcs = Math.min(110, room * 0.4);
  const together = Math.min(WIDEST, free / WIDTH);
  const own = Math.min(WIDEST, (room - figures - arcs) / headWidth);
  const column = mix(together, own, apart);
  const used = figures + headWidth * own + arcs;
  const left = (col: number): number => {
    const inOwn = Math.floor(col / headWidth) * room + (room - used) / 2 + figures + (col % headWidth) * own;
    return LABEL + mix((free - WIDTH * together) / 2 + col * together, inOwn, apart);
  };
  return { room, arcs, column, left, middle: (first: number, count: number) => left(first) + (count * column) / 2 };
}

/** A line that is drawn as far as this. */
export const grown = (part: number) => ({ pathLength: 1, "stroke-dasharray": `${part} ${part === 1 ? 0 : 1}` });

export function textOf({ walk, words }: HeadsScene, asker: number, step: Step): string {
  const { heads, headWidth } = walk;
  const best = ({ weights }: { readonly weights: Matrix }) => {
    const row = words.map((_, key) => entry(weights, asker, key));
    const telling = strongestOf(row, 2).filter((key) => (row[key] ?? 0) > EVEN);
    return telling.map((key) => `${words[key]} ${percent(row[key] ?? 0)}`);
  };
  const all = heads.map((head, index) => ({ name: `Head ${index + 1}`, found: best(head) }));
  const telling = all.filter(({ found }) => found.length > 0);
  const rest = telling.length < all.length ? " The others find nothing and weigh all words alike." : "";
  const ofHeads = telling.map(({ name, found }) => `${name}: ${found[0]}.`).join(" ");
  const texts: Readonly<Record<Step, string>> = {
    project: `V has ${WIDTH} columns. Each head gets some of them, as a ribbon.`,
    split:
      heads.length === 1
        ? `One head keeps all ${WIDTH} columns of W_Q, W_K and W_V, and so of Q, K and V.`
        : `The ${WIDTH} columns of W_Q, W_K and W_V are cut into ${heads.length} parts of ${headWidth}. So each head has Q, K and V of its own, ${headWidth} wide; you see V.`,
    attend:
      heads.length === 1
        ? `One head gives “${words[asker]}” one set of attention weights: ${all[0]?.found.join(", ")}. Its output is their average. Now choose 2 heads.`
        : `Each head gives “${words[asker]}” attention weights of its own. ${ofHeads}${rest}`,
    join: "The outputs stand side by side, as wide as X was. The matrix products cost the same for any h; only the number of softmaxes grows.",
    mix: "Y is the outputs times W_O. A thread is as wide as its weight, so each column of Y can read from every head.",
  };
  return texts[step];
}

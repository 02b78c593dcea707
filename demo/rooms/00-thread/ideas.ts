// The pictures of the ten stops: rows of words with what each has, what a recipe is wired to, scores that spread, a sum that is shared out,
// values that are poured, and who may see whom. Pure; each word's figure is named by the word.

import { at, type Matrix, rowsOf } from "../../src/model/matrix.js";
import { softmax } from "../../src/model/softmax.js";
import * as toy from "../../src/model/toy.js";
import { type Draw, figure, type Shape, shape } from "../../src/ui/board.js";
import { exact, percent } from "../../src/ui/numbers.js";
import { type Sketch, sketchOver } from "./sketch.js";

/** On a phone the stage has less room. */
const heightOf = (width: number): number => (width < 500 ? 290 : 400);
/** A word's share that is drawn, and one that is named. */
const [LEAST, LEAST_NAMED] = [0.002, 0.06];
const [MIDDLE, END] = [{ "text-anchor": "middle" }, { "text-anchor": "end" }];
const SMALL = { class: "board-small" };
const KEYED = toy.PROPERTIES.slice(0, toy.KEY_WIDTH);

const label = (key: string, text: string, x: number, y: number, look: Shape["attributes"] = {}): Shape =>
  shape("text", key, { x, y, ...look }, text);

type Box = readonly [x: number, y: number, width: number, height: number];

/** A part of a whole, or of a box, as full as is said. */
const box = (key: string, look: string, [x, y, width, height]: Box, full = 0.8): Shape =>
  shape("rect", key, {
    class: look,
    x,
    y,
    width: Math.max(0, width),
    height: Math.max(0, height),
    "fill-opacity": full,
  });

/** A number in a box, which 0 leaves empty. */
function boxed(key: string, tone: string, place: Box, value: number, full: number): Shape[] {
  const [x, y, width, height] = place;
  const text = value === 0 ? "" : exact(value);
  return [
    box(key, `thread-box tone-${tone}`, place, full),
    label(key, text, x + width / 2, y + height / 2 + 5, MIDDLE),
  ];
}

/** A band from one upright line to another, as thick at each end as is said. */
function band(
  key: string,
  [x0, y0, h0]: readonly [number, number, number],
  [x1, y1, h1]: readonly [number, number, number],
  tone: string,
): Shape {
  const half = (x0 + x1) / 2;
  const d = `M${x0} ${y0}C${half} ${y0} ${half} ${y1} ${x1} ${y1}v${h1}C${half} ${y1 + h1} ${half} ${y0 + h0} ${x0} ${y0 + h0}Z`;
  return shape("path", key, { class: `thread-band tone-${tone}`, d });
}

/** Where parts stand that share a line of so many pixels. */
function stacked(parts: readonly number[], length: number): readonly number[] {
  let sum = 0;
  return parts.map((part) => {
    sum += part;
    return (sum - part) * length;
  });
}

interface Column {
  readonly title: string;
  readonly tone: string;
  /** Bars of weights; or what lies in drawers, which are as far out as their weights say. */
  readonly weights: readonly number[];
  readonly drawers?: readonly string[];
}

interface Rows {
  readonly words: readonly string[];
  /** The word that asks; -1 where none of the sentence does. */
  readonly asker: number;
  readonly title?: string;
  /** The query stands above all keys: where both have a number, their product counts. */
  readonly called?: { readonly query: readonly number[]; readonly keys: Matrix };
  /** Each product is a part of a key's sum. */
  readonly sums?: boolean;
  readonly columns?: readonly Column[];
  /** From the word that asks to all others, as thick as the weights of a column. */
  readonly arcs?: boolean;
  /** Below all rows. */
  readonly output?: string;
}

/** Pixels: the arc of all the weight, the room for arcs, for words, and for what stands above the rows. */
const [THICKEST, ARCS, WORDS, TOP] = [22, 60, 86, 46];

/** One row a word, with what its key has, and what comes of that. */
export function rowsIdea({ words, asker, title = "", called, sums = false, columns = [], arcs, output }: Rows): Draw {
  return (_, width) => {
    const height = heightOf(width);
    const begin = arcs ? ARCS : 0;
    const left = begin + WORDS;
    const row = (height - TOP - 4) / (words.length + (output === undefined ? 0 : 1));
    const pitch = Math.min(52, (width - left) * 0.13);
    const size = Math.min(24, row - 4, pitch - 4);
    const middle = (index: number): number => TOP + (index + 0.5) * row;
    const x = (property: number): number => left + property * pitch + (pitch - size) / 2;
    const from = called === undefined ? left : left + KEYED.length * pitch + 14;
    const each = (width - from) / Math.max(1, columns.length);
    const shapes: Shape[] = [];
    const head = (key: string, text: string, x: number, look = ""): void => {
      shapes.push(label(key, text, x, 35, { class: `board-small ${look}` }));
    };
    head("query", title, 0, "tone-query");
    if (sums) head("sums", "query · key", from);
    columns.forEach((column, place) => {
      head(`title ${place}`, column.title, from + place * each);
      for (const [word, weight] of arcs ? column.weights.entries() : []) {
        if (word === asker) continue;
        const [start, end, out] = [middle(asker), middle(word), ARCS * Math.min(0.75, Math.abs(asker - word) / 8)];
        const d = `M${ARCS} ${start}C${ARCS - out} ${start} ${ARCS - out} ${end} ${ARCS} ${end}`;
        const look = { class: `thread-arc tone-${column.tone}`, d, "stroke-width": weight * THICKEST };
        shapes.push(shape("path", `arc ${place} ${word}`, look));
      }
    });
    KEYED.forEach((name, property) => {
      if (called === undefined) return;
      const [asks, center] = [called.query[property] ?? 0, x(property) + size / 2];
      const d = `M${center} ${TOP - 6}V${middle(words.length - 1)}`;
      const call = shape("path", `call ${property}`, {
        class: "thread-wire lit tone-query",
        d,
        "stroke-width": asks / 3,
      });
      shapes.push(
        ...(asks === 0 ? [] : [call]),
        label(`p${property}`, pitch < 46 ? name.slice(0, 4) : name, center, 11, { ...MIDDLE, ...SMALL }),
        ...boxed(`q${property}`, "query", [x(property), 18, size, size], asks, asks / 9),
      );
    });
    words.forEach((word, index) => {
      const [y, base] = [middle(index) - size / 2, middle(index) + 5];
      shapes.push(
        label(`w${index}`, word, begin + 6, base, { class: `thread-word${index === asker ? " asking" : ""}` }),
      );
      const key = called && rowsOf(called.keys)[index];
      const products = key?.map((entry, property) => entry * (called?.query[property] ?? 0)) ?? [];
      key?.forEach((entry, property) => {
        const place: Box = [x(property), y, size, size];
        shapes.push(box(`ground ${index} ${property}`, "thread-ground", place, 1));
        shapes.push(...boxed(`k${index} ${property}`, "key", place, entry, 0.35 * entry));
      });
      if (sums) {
        const unit = (width - from - 40) / 8;
        const sum = products.reduce((total, product) => total + product, 0);
        stacked(products, unit).forEach((start, property) => {
          const part: Box = [from + start, y, (products[property] ?? 0) * unit - 1, size];
          shapes.push(box(`s${index} ${property}`, "tone-score", part));
        });
        const look = { class: "thread-figure" };
        shapes.push(label(`f${index}`, sum === 0 ? "" : exact(sum), from + sum * unit + 5, base, look));
      }
      columns.forEach(({ tone, weights, drawers }, place) => {
        const [weight, start, name] = [weights[index] ?? 0, from + place * each, `${place} ${index}`];
        if (drawers === undefined) {
          const long = weight * (each - 46);
          const bar = box(`bar ${name}`, `tone-${tone} thread-part`, [start, middle(index) - 7, long, 14]);
          const said = weight === 0 ? "" : percent(weight);
          shapes.push(bar, label(`bar ${name}`, said, start + long + 6, base, { ...SMALL, "data-word": word }));
          return;
        }
        const inside = [
          box("front", `thread-drawer tone-${tone}`, [0, y, 50, size], 0.34 * weight),
          label("what", drawers[index] ?? "", 25, base, { ...MIDDLE, opacity: 0.65 + 0.35 * weight }),
        ];
        const transform = `translate(${start + weight * Math.min(54, each - 54)} 0)`;
        shapes.push({ ...shape("g", `drawer ${name}`, { transform }), inside });
      });
    });
    if (output !== undefined) {
      const y = middle(words.length);
      const line = { class: "ground", x1: begin, x2: width, y1: y - row / 2, y2: y - row / 2 };
      shapes.push(
        shape("line", "sum", line),
        label("output", "output", begin + 6, y + 6),
        label("out", output, left, y + 6, { class: "tone-value" }),
      );
    }
    const said = columns.map(({ title, weights }) => {
      const all = words.flatMap((word, index) => (weights[index] ? [`${word} ${percent(weights[index] ?? 0)}`] : []));
      return `${title}: ${all.join(", ") || "none"}`;
    });
    return { height, shapes, said: said.join("; ") || `The query of ${words[asker]} meets every key.` };
  };
}

const unitOf = (from: number, count: number): Matrix => ({
  rows: toy.PROPERTIES.length,
  cols: count,
  data: Float64Array.from({ length: toy.PROPERTIES.length * count }, (_, index) =>
    Number(Math.floor(index / count) === from + (index % count)),
  ),
});
const RECIPES = [
  { name: "query: looks for", tone: "query", matrix: toy.HEADS.nouns, names: KEYED },
  { name: "key: offers", tone: "key", matrix: unitOf(0, toy.KEY_WIDTH), names: KEYED },
  { name: "value: says", tone: "value", matrix: unitOf(2, toy.VALUES.length), names: toy.VALUES },
] as const;

/** One word's vector, and the wires of three recipes: lit where something flows, with what it is multiplied by. */
export function recipesIdea(word: string, vector: readonly number[]): Draw {
  return (_, width) => {
    const height = heightOf(width);
    const [left, right, size] = [Math.min(110, width * 0.25), width - 96, 24];
    const pitch = (height - 30) / 14.8;
    const topOf = (property: number): number => height / 2 - 90 + property * 38;
    // Wires lie below all boxes.
    const wires: Shape[] = [];
    const shapes: Shape[] = [label("word", word, left + size, topOf(0) - 14, { ...END, class: "thread-word" })];
    for (const [row, entry] of vector.entries()) {
      const name = label(`n${row}`, toy.PROPERTIES[row] ?? "", left - 6, topOf(row) + 16, { ...END, ...SMALL });
      shapes.push(...boxed(`x${row}`, "score", [left, topOf(row), size, size], entry, entry * 0.3), name);
    }
    let line = 0;
    for (const { name, tone, matrix, names } of RECIPES) {
      const top = 26 + line * pitch;
      line += names.length + 1.6;
      shapes.push(label(name, name, right, top, { class: `tone-${tone}` }));
      for (const [col, property] of names.entries()) {
        const y = top + 6 + col * pitch;
        let sum = 0;
        for (const [row, entry] of vector.entries()) {
          const weight = at(matrix, row, col);
          if (weight === 0) continue;
          sum += entry * weight;
          const key = `${name} ${row} ${col}`;
          const [x0, y0, half] = [left + size, topOf(row) + size / 2, (left + size + right) / 2];
          const d = `M${x0} ${y0}C${half} ${y0} ${half} ${y + 9} ${right} ${y + 9}`;
          const look = entry === 0 ? "thread-wire" : `thread-wire lit tone-${tone}`;
          wires.push(shape("path", key, { class: look, d, "stroke-width": 0.8 + weight / 2 }));
          const times = { ...END, class: `board-small thread-figure tone-${tone}` };
          if (entry !== 0) shapes.push(label(`x${key}`, `× ${weight}`, right - 6, y + 4, times));
        }
        const full = sum === 0 ? 0 : 0.25 + 0.06 * sum;
        shapes.push(...boxed(`${name} ${col}`, tone, [right, y, size, 18], sum, full));
        shapes.push(label(`${name} ${property}`, property, right + size + 5, y + 13, SMALL));
      }
    }
    return {
      height,
      shapes: [...wires, ...shapes],
      said: `The vector of ${word} becomes a query, a key and a value.`,
    };
  };
}

/** Scores from the least to the most of the axis in so many bins; those beyond are in the last ones. */
const [MOST_SCORE, BINS] = [64, 33];
export const BIN_NAMES = Array.from({ length: BINS }, (_, bin) =>
  exact((2 * MOST_SCORE * bin) / (BINS - 1) - MOST_SCORE),
);

/** Which part of all scores falls into each bin. */
export function binned(scores: readonly number[]): readonly number[] {
  const counts = Array<number>(BINS).fill(0);
  for (const score of scores) {
    const bin = Math.round(((score + MOST_SCORE) / (2 * MOST_SCORE)) * (BINS - 1));
    const inside = Math.min(BINS - 1, Math.max(0, bin));
    counts[inside] = (counts[inside] ?? 0) + 1 / scores.length;
  }
  return counts;
}

/** How often scores come up, before they are divided and after; and the weights that a softmax makes of some of them. */
export function spreadIdea(raw: readonly number[], divided: readonly number[] | undefined, sketch: Sketch): Draw {
  return (_, width) => {
    const height = heightOf(width);
    const high = height - 150;
    const pitch = width / BINS;
    const kinds = [
      { name: "scores: query · key", tone: "tone-score", scores: raw, top: high + 34 },
      { name: "divided by √d", tone: "tone-share", scores: divided, top: high + 92 },
    ];
    const shapes = kinds.flatMap(({ name, tone, scores, top }): Shape[] => {
      if (scores === undefined) return [];
      const some = scores.slice(0, toy.COUNT);
      const weights = Array.from(softmax({ rows: 1, cols: some.length, data: Float64Array.from(some) }).data);
      const said = `${name}; weights of ${some.length} keys: the largest has ${percent(Math.max(...weights))}`;
      return [
        ...binned(scores).map((part, bin) =>
          box(`${tone} ${bin}`, tone, [bin * pitch + 1, high * (1 - part), pitch - 2, high * part], 0.6),
        ),
        label(name, said, 0, top + 14, SMALL),
        ...stacked(weights, width).map((begin, key) => {
          const place: Box = [begin, top + 20, (weights[key] ?? 0) * width - 1, 18];
          return box(`weight ${tone} ${key}`, `${tone} thread-part`, place, key % 2 === 0 ? 0.75 : 0.45);
        }),
      ];
    });
    const ticks = [0, (BINS - 1) / 2, BINS - 1].map((bin) =>
      figure(`tick ${bin}`, BIN_NAMES[bin] ?? "", [Math.min(width - 8, Math.max(10, (bin + 0.5) * pitch)), high + 15]),
    );
    const line = shape("line", "axis", { class: "ground", x1: 0, x2: width, y1: high, y2: high });
    const over = sketchOver({ x: 0, y: 0, width, height: high }, sketch, divided !== undefined);
    return { height, shapes: [line, ...ticks, ...shapes, ...over], said: "How often each score comes up" };
  };
}

/** Every score as e to its power, and the one whole that they share. */
export function sharedIdea(words: readonly string[], { scores, weights }: toy.Row): Draw {
  const powers = scores.map(Math.exp);
  const largest = Math.max(...powers);
  return (_, width) => {
    const height = heightOf(width);
    const [left, right, row] = [78, width - 74, height / words.length];
    const room = Math.min(150, (right - left) * 0.42);
    const high = Math.min(row - 6, 14);
    const begins = stacked(weights, height);
    const shapes = words.flatMap((word, index): Shape[] => {
      const [weight, begin, power] = [weights[index] ?? 0, begins[index] ?? 0, powers[index] ?? 0];
      const [middle, length] = [(index + 0.5) * row, Math.max(1, (room * power) / largest)];
      const y = middle - high / 2;
      const to = [right, begin, weight * height] as const;
      const said = weight < LEAST_NAMED ? "" : percent(weight);
      return [
        label(`w${index}`, word, 70, middle + 4, END),
        box(`p${index}`, "tone-score", [left, y, length, high], 0.6),
        label(`e${index}`, exact(power, 1), left + length + 5, middle + 4, { class: "board-small thread-figure" }),
        ...(weight < LEAST ? [] : [band(`b${index}`, [left + room + 44, y, high], to, "share")]),
        box(`s${index}`, "tone-share thread-part", [right, begin, 22, weight * height - 1]),
        label(`f${index}`, said, right + 27, begin + (weight * height) / 2 + 4, { "data-word": word }),
      ];
    });
    const whole = box("whole", "thread-tank", [right, 0, 22, height]);
    const said = words.map((word, index) => `${word} ${percent(weights[index] ?? 0)}`).join(", ");
    return { height, shapes: [whole, ...shapes], said };
  };
}

/** Each word's value is poured, as much as its weight says, into the output. */
export function pouredIdea(words: readonly string[], values: Matrix, { weights, output }: toy.Row): Draw {
  return (_, width) => {
    const height = heightOf(width);
    const [left, right, tall] = [Math.min(190, width * 0.42), width - 86, (height - 60) / 2];
    const base = (property: number): number => 14 + property * (tall + 32);
    const filled = toy.VALUES.map(() => 0);
    const shapes = stacked(weights, height).flatMap((begin, index): Shape[] => {
      const [word = "", weight = 0] = [words[index], weights[index]];
      const high = Math.max(0.5, weight * height - 1);
      const bands = (rowsOf(values)[index] ?? []).flatMap((value, property): Shape[] => {
        const part = value * weight;
        if (part < LEAST) return [];
        const full = (filled[property] ?? 0) + part;
        filled[property] = full;
        const to = [right, base(property) + tall * (1 - full), part * tall] as const;
        return [band(`v${index} ${property}`, [left + 12, begin, high], to, "value")];
      });
      const look = { ...END, "data-word": word, class: high < 13 ? "thread-tight" : undefined };
      return [
        ...bands,
        box(`w${index}`, "tone-share thread-part", [left, begin, 12, high]),
        label(`n${index}`, weight < 0.03 ? "" : `${word} ${percent(weight)}`, left - 6, begin + high / 2 + 4, look),
      ];
    });
    const tanks = toy.VALUES.flatMap((name, property): Shape[] => {
      const [top, amount] = [base(property), output[property] ?? 0];
      return [
        box(`tank ${name}`, "thread-tank", [right, top, 26, tall]),
        box(`full ${name}`, "tone-value", [right, top + tall * (1 - amount), 26, tall * amount]),
        label(`t ${name}`, name, right + 32, top + tall / 2),
        label(`a ${name}`, exact(amount, 2), right + 32, top + tall / 2 + 17, { class: "tone-value" }),
      ];
    });
    const said = toy.VALUES.map((name, index) => `${name} ${exact(output[index] ?? 0, 2)}`).join(", ");
    return { height, shapes: [...shapes, ...tanks], said };
  };
}

/** A row a query, a column a key: what may be seen, with its weight; and one row as bars below. */
export function triangleIdea(
  words: readonly string[],
  asker: number,
  isCausal: boolean,
  weights: readonly (readonly number[])[],
  sketch: Sketch,
): Draw {
  return (_, width) => {
    const height = heightOf(width);
    const [left, bars] = [74, height / 5];
    const cell = Math.min((height - 60 - bars) / words.length, (width - left - 4) / words.length);
    const top = height - bars - 10 - cell * words.length;
    const shapes = words.flatMap((word, row): Shape[] => {
      const x = left + row * cell;
      const [middle, part] = [x + 0.6 * cell, weights[asker]?.[row] ?? 0];
      const tilted = { ...SMALL, transform: `rotate(-60 ${middle} ${top - 5})` };
      const said = part < LEAST_NAMED ? "" : String(Math.round(100 * part));
      const look = { ...END, class: row === asker ? "asking" : undefined };
      return [
        label(`r${row}`, word, left - 6, top + (row + 0.68) * cell, look),
        label(`c${row}`, word, middle, top - 5, tilted),
        ...words.map((_, col) => {
          const isHidden = isCausal && col > row;
          const full = isHidden ? 0 : 0.1 + 0.9 * (weights[row]?.[col] ?? 0);
          const place: Box = [left + col * cell, top + row * cell, cell - 2, cell - 2];
          return box(`${row} ${col}`, isHidden ? "thread-hidden" : "tone-share", place, full);
        }),
        box(`bar ${row}`, "tone-share thread-part", [x, height - bars * part, cell - 2, bars * part]),
        label(`f${row}`, said, x + cell / 2 - 1, height - bars * part - 3, { ...MIDDLE, "data-word": word }),
      ];
    });
    const name = label("row", words[asker] ?? "", left - 6, height - 6, { ...END, class: "asking" });
    const plot = { x: left, y: height - bars, width: cell * words.length, height: bars };
    const said = isCausal ? "Each word sees itself and the words before." : "Each word sees all words.";
    return { height, shapes: [...shapes, name, ...sketchOver(plot, sketch, isCausal)], said };
  };
}

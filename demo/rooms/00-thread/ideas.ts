// Pictures of ideas that no table shows: what a recipe is wired to, a query that is called out to all keys, scores that spread, a sum that is
// shared out, values that are poured, and who may see whom. Pure; each word's figure is named by the word.

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
const [START, MIDDLE, END] = ["start", "middle", "end"].map((anchor) => ({ "text-anchor": anchor }));

const label = (key: string, text: string, x: number, y: number, look: Shape["attributes"] = {}): Shape =>
  shape("text", key, { x, y, ...look }, text);

type Box = readonly [x: number, y: number, width: number, height: number];

/** A part of a whole, or a number in a box, as full as is said. */
function box(key: string, look: string, [x, y, width, height]: Box, full = 0.8): Shape {
  return shape("rect", key, {
    class: look,
    x,
    y,
    width: Math.max(0, width),
    height: Math.max(0, height),
    "fill-opacity": full,
  });
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

const unitOf = (from: number, count: number): Matrix => ({
  rows: toy.PROPERTIES.length,
  cols: count,
  data: Float64Array.from({ length: toy.PROPERTIES.length * count }, (_, index) =>
    Number(Math.floor(index / count) === from + (index % count)),
  ),
});
const KEYED = toy.PROPERTIES.slice(0, toy.KEY_WIDTH);
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
    const xY = (property: number): number => height / 2 - 90 + property * 38;
    let line = 0;
    const outputs = RECIPES.flatMap(({ name, tone, matrix, names }) => {
      const top = 26 + line * pitch;
      line += names.length + 1.6;
      return [
        label(name, name, right, top, { ...START, class: `tone-${tone}` }),
        ...names.flatMap((property, col): Shape[] => {
          const y = top + 6 + col * pitch;
          const sum = vector.reduce((total, entry, row) => total + entry * at(matrix, row, col), 0);
          const wires = vector.flatMap((entry, row) => {
            const weight = at(matrix, row, col);
            if (weight === 0) return [];
            const [x0, y0, half] = [left + size, xY(row) + size / 2, (left + size + right) / 2];
            const d = `M${x0} ${y0}C${half} ${y0} ${half} ${y + 9} ${right} ${y + 9}`;
            const look = entry === 0 ? "thread-wire" : `thread-wire lit tone-${tone}`;
            const wire = shape("path", `${name} ${row} ${col}`, { class: look, d, "stroke-width": 0.8 + weight / 2 });
            const times = { ...END, class: `board-small thread-figure tone-${tone}` };
            return entry === 0
              ? [wire]
              : [wire, label(`x${name} ${row} ${col}`, `× ${weight}`, right - 6, y + 4, times)];
          });
          return [
            ...wires,
            box(`${name} ${col}`, `thread-box tone-${tone}`, [right, y, size, 18], sum === 0 ? 0 : 0.25 + 0.06 * sum),
            label(`${name} ${col}`, sum === 0 ? "" : exact(sum), right + size / 2, y + 13, MIDDLE),
            label(`${name} ${property}`, property, right + size + 5, y + 13, { class: "board-small" }),
          ];
        }),
      ];
    });
    const inputs = vector.flatMap((entry, row): Shape[] => [
      box(`x${row}`, "thread-box tone-score", [left, xY(row), size, size], entry * 0.3),
      label(`x${row}`, entry === 0 ? "" : exact(entry), left + size / 2, xY(row) + 17, MIDDLE),
      label(`n${row}`, toy.PROPERTIES[row] ?? "", left - 6, xY(row) + 16, { ...END, class: "board-small" }),
    ]);
    const isWire = ({ tag }: Shape): boolean => tag === "path";
    const name = label("word", word, left + size, xY(0) - 14, { ...END, class: "thread-word" });
    const shapes = [...outputs.filter(isWire), name, ...inputs, ...outputs.filter((one) => !isWire(one))];
    return { height, shapes, said: `The vector of ${word} becomes a query, a key and a value.` };
  };
}

/** The query stands above all keys: where both have a number, their product goes into the key's sum. */
export function calledIdea(words: readonly string[], asker: number, query: readonly number[], keys: Matrix): Draw {
  return (_, width) => {
    const height = heightOf(width);
    const [left, top] = [78, 46];
    const [row, pitch] = [(height - top - 4) / words.length, Math.min(52, (width - left) * 0.13)];
    const size = Math.min(24, row - 4, pitch - 4);
    const from = left + KEYED.length * pitch + 14;
    const unit = (width - from - 40) / 8;
    const x = (property: number): number => left + property * pitch + (pitch - size) / 2;
    const above = KEYED.flatMap((name, property): Shape[] => {
      const asks = query[property] ?? 0;
      const middle = x(property) + size / 2;
      const line = {
        class: "thread-wire lit tone-query",
        d: `M${middle} ${top - 6}V${height - 6}`,
        "stroke-width": asks / 3,
      };
      return [
        ...(asks === 0 ? [] : [shape("path", `call ${property}`, line)]),
        label(`p${property}`, pitch < 46 ? name.slice(0, 4) : name, middle, 11, { ...MIDDLE, class: "board-small" }),
        box(`q${property}`, "thread-box tone-query", [x(property), 18, size, size], asks / 9),
        label(`q${property}`, asks === 0 ? "" : exact(asks), middle, 18 + size / 2 + 5, MIDDLE),
      ];
    });
    const rows = words.flatMap((word, index): Shape[] => {
      const y = top + index * row + (row - size) / 2;
      const products = KEYED.map((_, property) => (query[property] ?? 0) * at(keys, index, property));
      const begins = stacked(products, unit);
      const sum = products.reduce((total, product) => total + product, 0);
      return [
        label(`w${index}`, word, left - 8, y + size / 2 + 5, { ...END, class: index === asker ? "asking" : undefined }),
        ...KEYED.flatMap((_, property) => {
          const entry = at(keys, index, property);
          const place: Box = [x(property), y, size, size];
          return [
            box(`ground ${index} ${property}`, "thread-ground", place, 1),
            box(`k${index} ${property}`, "thread-box tone-key", place, 0.35 * entry),
            label(
              `k${index} ${property}`,
              entry === 0 ? "" : exact(entry),
              x(property) + size / 2,
              y + size / 2 + 5,
              MIDDLE,
            ),
            box(`s${index} ${property}`, "tone-score", [
              from + (begins[property] ?? 0),
              y,
              (products[property] ?? 0) * unit - 1,
              size,
            ]),
          ];
        }),
        label(`f${index}`, sum === 0 ? "" : exact(sum), from + sum * unit + 5, y + size / 2 + 5, {
          class: "thread-figure",
        }),
      ];
    });
    const title = label("title", "query · key", from, 18 + size / 2 + 5, { ...START, class: "board-small" });
    return { height, shapes: [...above, title, ...rows], said: `The query of ${words[asker]} meets every key.` };
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
    const [pitch, kinds] = [width / BINS, divided === undefined ? [raw] : [raw, divided]];
    const names = ["scores: query · key", "divided by √d"];
    const shapes = kinds.flatMap((scores, kind): Shape[] => {
      const some = scores.slice(0, toy.COUNT);
      const weights = Array.from(softmax({ rows: 1, cols: some.length, data: Float64Array.from(some) }).data);
      const begins = stacked(weights, width);
      const [tone, top] = [kind === 0 ? "tone-score" : "tone-share", high + 34 + 58 * kind];
      const said = `${names[kind]}; weights of ${some.length} keys: the largest has ${percent(Math.max(...weights))}`;
      return [
        ...binned(scores).map((part, bin) =>
          box(`${kind} ${bin}`, tone, [bin * pitch + 1, high * (1 - part), pitch - 2, high * part], 0.6),
        ),
        label(`name ${kind}`, said, 0, top + 14, { ...START, class: "board-small" }),
        ...weights.map((weight, key) => {
          const place: Box = [begins[key] ?? 0, top + 20, weight * width - 1, 18];
          return box(`weight ${kind} ${key}`, `${tone} thread-part`, place, key % 2 === 0 ? 0.75 : 0.45);
        }),
      ];
    });
    const ticks = [0, (BINS - 1) / 2, BINS - 1].map((bin) =>
      figure(`tick ${bin}`, BIN_NAMES[bin] ?? "", [Math.min(width - 8, Math.max(10, (bin + 0.5) * pitch)), high + 15]),
    );
    const line = shape("line", "axis", { class: "ground", x1: 0, x2: width, y1: high, y2: high });
    const over = sketchOver({ x: 0, y: 0, width, height: high }, sketch, divided !== undefined);
    return { height, shapes: [line, ...ticks, ...shapes, ...over], said: names.slice(0, kinds.length).join(", ") };
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
    const begins = stacked(weights, height);
    const shapes = words.flatMap((word, index): Shape[] => {
      const [top, weight, begin, power] = [index * row, weights[index] ?? 0, begins[index] ?? 0, powers[index] ?? 0];
      const [length, high] = [(room * power) / largest, Math.min(row - 6, 14)];
      const [y, middle] = [top + (row - high) / 2, top + row / 2 + 4];
      const to = [right, begin, weight * height] as const;
      const named = { ...START, "data-word": word };
      return [
        label(`w${index}`, word, 70, middle, END),
        box(`p${index}`, "tone-score", [left, y, Math.max(1, length), high], 0.6),
        label(`e${index}`, exact(power, 1), left + length + 5, middle, { class: "board-small thread-figure" }),
        ...(weight < LEAST ? [] : [band(`b${index}`, [left + room + 44, y, high], to, "share")]),
        box(`s${index}`, "tone-share thread-part", [right, begin, 22, weight * height - 1]),
        label(
          `f${index}`,
          weight < LEAST_NAMED ? "" : percent(weight),
          right + 27,
          begin + (weight * height) / 2 + 4,
          named,
        ),
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
    const begins = stacked(weights, height);
    const base = (property: number): number => 14 + property * (tall + 32);
    const filled = toy.VALUES.map(() => 0);
    const shapes = words.flatMap((word, index): Shape[] => {
      const [begin, weight] = [begins[index] ?? 0, weights[index] ?? 0];
      const high = Math.max(0.5, weight * height - 1);
      const bands = (rowsOf(values)[index] ?? []).flatMap((value, property): Shape[] => {
        const part = value * weight;
        if (part < LEAST) return [];
        filled[property] = (filled[property] ?? 0) + part;
        const top = base(property) + tall * (1 - (filled[property] ?? 0));
        return [band(`v${index} ${property}`, [left + 12, begin, high], [right, top, part * tall], "value")];
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
        label(`t ${name}`, name, right + 32, top + tall / 2, START),
        label(`a ${name}`, exact(amount, 2), right + 32, top + tall / 2 + 17, { ...START, class: "tone-value" }),
      ];
    });
    const said = toy.VALUES.map((name, index) => `${name} ${exact(output[index] ?? 0, 2)}`).join(", ");
    return { height, shapes: [...shapes, ...tanks], said };
  };
}

/** Of the weight, in a row that is drawn as bars. */
export const FULL_ROW = 1;

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
    const own = weights[asker] ?? [];
    const shapes = words.flatMap((word, row): Shape[] => {
      const middle = left + (row + 0.6) * cell;
      const tilted = { ...START, class: "board-small", transform: `rotate(-60 ${middle} ${top - 5})` };
      const part = (own[row] ?? 0) / FULL_ROW;
      const said = part < LEAST_NAMED ? "" : String(Math.round(100 * part));
      return [
        label(`r${row}`, word, left - 6, top + (row + 0.68) * cell, {
          ...END,
          class: row === asker ? "asking" : undefined,
        }),
        label(`c${row}`, word, middle, top - 5, tilted),
        ...words.map((_, col) => {
          const isHidden = isCausal && col > row;
          const place: Box = [left + col * cell, top + row * cell, cell - 2, cell - 2];
          const full = isHidden ? 0 : 0.1 + 0.9 * (weights[row]?.[col] ?? 0);
          return box(`${row} ${col}`, isHidden ? "thread-hidden" : "tone-share", place, full);
        }),
        box(`bar ${row}`, "tone-share thread-part", [left + row * cell, height - bars * part, cell - 2, bars * part]),
        label(`f${row}`, said, left + (row + 0.5) * cell - 1, height - bars * part - 3, {
          ...MIDDLE,
          "data-word": word,
        }),
      ];
    });
    const name = label("row", words[asker] ?? "", left - 6, height - 6, { ...END, class: "asking" });
    const plot = { x: left, y: height - bars, width: cell * words.length, height: bars };
    const said = isCausal ? "Each word sees itself and the words before." : "Each word sees all words.";
    return { height, shapes: [...shapes, name, ...sketchOver(plot, sketch, isCausal)], said };
  };
}

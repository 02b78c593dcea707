// Pictures of ideas that no table shows: what a recipe is wired to, scores that spread, a sum that is shared out, values that are poured,
// and who may see whom. Pure; each word's figure is named by the word.

import { at, type Matrix, rowsOf } from "../../src/model/matrix.js";
import { softmax } from "../../src/model/softmax.js";
import * as toy from "../../src/model/toy.js";
import { type Draw, figure, type Shape, shape } from "../../src/ui/board.js";
import { exact, percent } from "../../src/ui/numbers.js";

/** On a phone the stage has less room. */
const heightOf = (width: number): number => (width < 500 ? 290 : 400);
/** A word's share that is drawn, and one that is named. */
const [LEAST, LEAST_NAMED] = [0.002, 0.06];
const START = { "text-anchor": "start" };
const END = { "text-anchor": "end" };

const label = (key: string, text: string, x: number, y: number, look: Shape["attributes"] = {}): Shape =>
  shape("text", key, { x, y, ...look }, text);

/** A band from one upright line to another, as thick at each end as is said. */
function band(
  key: string,
  from: readonly [number, number, number],
  to: readonly [number, number, number],
  tone: string,
): Shape {
  const [[x0, y0, h0], [x1, y1, h1]] = [from, to];
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

interface Recipe {
  readonly name: string;
  readonly tone: "query" | "key" | "value";
  readonly matrix: Matrix;
  readonly names: readonly string[];
}

const identityOf = (from: number, count: number): Matrix => ({
  rows: toy.PROPERTIES.length,
  cols: count,
  data: Float64Array.from({ length: toy.PROPERTIES.length * count }, (_, index) =>
    Number(Math.floor(index / count) === from + (index % count)),
  ),
});
const RECIPES: readonly Recipe[] = [
  { name: "query: looks for", tone: "query", matrix: toy.HEADS.nouns, names: toy.PROPERTIES.slice(0, toy.KEY_WIDTH) },
  {
    name: "key: offers",
    tone: "key",
    matrix: identityOf(0, toy.KEY_WIDTH),
    names: toy.PROPERTIES.slice(0, toy.KEY_WIDTH),
  },
  { name: "value: says", tone: "value", matrix: identityOf(2, toy.VALUES.length), names: toy.VALUES },
];

/** One word's vector, and the wires of three recipes: lit where something flows. */
export function recipesIdea(word: string, vector: readonly number[]): Draw {
  return (_, width) => {
    const height = heightOf(width);
    const [left, right, box] = [Math.min(110, width * 0.25), width - 96, 24];
    const pitch = (height - 20) / 14.8;
    const xY = (property: number): number => height / 2 - 90 + property * 38;
    let line = 0;
    const outputs = RECIPES.flatMap(({ name, tone, matrix, names }) => {
      const top = 14 + line * pitch;
      line += names.length + 1.6;
      const sums = names.map((_, col) => vector.reduce((sum, entry, row) => sum + entry * at(matrix, row, col), 0));
      return [
        label(name, name, right, top, { class: `tone-${tone}` }),
        ...names.flatMap((property, col): Shape[] => {
          const y = top + 6 + col * pitch;
          const sum = sums[col] ?? 0;
          const wires = vector.flatMap((entry, row) => {
            const weight = at(matrix, row, col);
            if (weight === 0) return [];
            const [x0, y0, half] = [left + box, xY(row) + box / 2, (left + box + right) / 2];
            const d = `M${x0} ${y0}C${half} ${y0} ${half} ${y + 9} ${right} ${y + 9}`;
            const look = entry === 0 ? { class: "thread-wire" } : { class: `thread-wire lit tone-${tone}` };
            return [shape("path", `${name} ${row} ${col}`, { ...look, d, "stroke-width": 0.8 + weight / 2 })];
          });
          const depth = sum === 0 ? 0 : 0.25 + 0.06 * sum;
          return [
            ...wires,
            shape("rect", `${name} ${col}`, {
              class: `thread-box tone-${tone}`,
              x: right,
              y,
              width: box,
              height: 18,
              "fill-opacity": depth,
            }),
            label(`${name} ${col}`, sum === 0 ? "" : exact(sum), right + box / 2, y + 13, { "text-anchor": "middle" }),
            label(`${name} ${property}`, property, right + box + 5, y + 13, { class: "board-small" }),
          ];
        }),
      ];
    });
    const inputs = vector.flatMap((entry, row): Shape[] => [
      shape("rect", `x${row}`, {
        class: "thread-box tone-score",
        x: left,
        y: xY(row),
        width: box,
        height: box,
        "fill-opacity": entry * 0.3,
      }),
      label(`x${row}`, entry === 0 ? "" : exact(entry), left + box / 2, xY(row) + 17, { "text-anchor": "middle" }),
      label(`n${row}`, toy.PROPERTIES[row] ?? "", left - 6, xY(row) + 16, { ...END, class: "board-small" }),
    ]);
    const shapes = [
      ...outputs.filter(({ tag }) => tag === "path"),
      label("word", word, left + box, xY(0) - 14, { ...END, class: "thread-word" }),
      ...inputs,
      ...outputs.filter(({ tag }) => tag !== "path"),
    ];
    return { height, shapes, said: `The vector of ${word} becomes a query, a key and a value.` };
  };
}

/** Scores as dots on a line, and under it what a softmax makes of them. */
export function spreadIdea(
  rows: readonly { readonly name: string; readonly scores: readonly number[] }[],
  most: number,
): Draw {
  return (_, width) => {
    const height = heightOf(width);
    const x = (score: number): number => width / 2 + (0.47 * width * Math.max(-most, Math.min(most, score))) / most;
    const shapes = rows.flatMap(({ name, scores }, row): Shape[] => {
      const top = 22 + (row * height) / 2;
      const weights = softmax({ rows: 1, cols: scores.length, data: Float64Array.from(scores) }).data;
      const begins = stacked(Array.from(weights), width);
      const ticks = [-most, 0, most].map((tick) => figure(`${name} ${tick}`, exact(tick), [x(tick), top + 48]));
      return [
        label(name, name, 0, top, START),
        shape("line", name, { class: "ground", x1: 0, x2: width, y1: top + 28, y2: top + 28 }),
        ...ticks,
        ...scores.map((score, key) =>
          shape("circle", `${name} ${key}`, {
            class: "tone-score",
            cx: x(score),
            cy: top + 28,
            r: 6,
            "fill-opacity": 0.55,
          }),
        ),
        ...Array.from(weights, (weight, key) =>
          shape("rect", `${name} weight ${key}`, {
            class: "tone-share thread-part",
            x: begins[key],
            y: top + 62,
            width: Math.max(0, weight * width - 1),
            height: 22,
            "fill-opacity": key % 2 === 0 ? 0.75 : 0.45,
          }),
        ),
        label(
          `${name} largest`,
          `their softmax: the largest weight is ${percent(Math.max(...weights))}`,
          0,
          top + 101,
          { ...START, class: "board-small" },
        ),
      ];
    });
    return {
      height,
      shapes,
      said: rows
        .map(({ name, scores }) => `${name}: ${exact(Math.min(...scores), 1)} to ${exact(Math.max(...scores), 1)}`)
        .join("; "),
    };
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
      const [top, weight] = [index * row, weights[index] ?? 0];
      const length = (room * (powers[index] ?? 0)) / largest;
      const high = Math.min(row - 6, 14);
      const y = top + (row - high) / 2;
      const begin = begins[index] ?? 0;
      return [
        label(`w${index}`, word, 70, top + row / 2 + 4, END),
        shape("rect", `p${index}`, {
          class: "tone-score",
          x: left,
          y,
          width: Math.max(1, length),
          height: high,
          "fill-opacity": 0.6,
        }),
        label(`e${index}`, exact(powers[index] ?? 0, 1), left + length + 5, top + row / 2 + 4, {
          class: "board-small thread-figure",
        }),
        ...(weight < LEAST
          ? []
          : [band(`b${index}`, [left + room + 44, y, high], [right, begin, weight * height], "share")]),
        shape("rect", `s${index}`, {
          class: "tone-share thread-part",
          x: right,
          y: begin,
          width: 22,
          height: Math.max(0, weight * height - 1),
          "fill-opacity": 0.8,
        }),
        label(`f${index}`, weight < LEAST_NAMED ? "" : percent(weight), right + 27, begin + (weight * height) / 2 + 4, {
          "data-word": word,
        }),
      ];
    });
    const whole = shape("rect", "whole", { class: "thread-tank", x: right, y: 0, width: 22, height });
    return {
      height,
      shapes: [whole, ...shapes],
      said: words.map((word, index) => `${word} ${percent(weights[index] ?? 0)}`).join(", "),
    };
  };
}

/** Each word's value is poured, as much as its weight says, into the output. */
export function pouredIdea(words: readonly string[], values: Matrix, { weights, output }: toy.Row): Draw {
  return (_, width) => {
    const height = heightOf(width);
    const [left, right, tall] = [Math.min(190, width * 0.42), width - 86, (height - 60) / 2];
    const begins = stacked(weights, height);
    const filled = toy.VALUES.map(() => 0);
    const shapes = words.flatMap((word, index): Shape[] => {
      const [begin, weight] = [begins[index] ?? 0, weights[index] ?? 0];
      const high = Math.max(0.5, weight * height - 1);
      const bands = (rowsOf(values)[index] ?? []).flatMap((value, property): Shape[] => {
        const part = value * weight;
        if (part < LEAST) return [];
        const base = 14 + tall + property * (tall + 32);
        filled[property] = (filled[property] ?? 0) + part;
        const top = base - (filled[property] ?? 0) * tall;
        return [band(`v${index} ${property}`, [left + 12, begin, high], [right, top, part * tall], "value")];
      });
      const isNamed = weight >= 0.03;
      return [
        ...bands,
        shape("rect", `w${index}`, {
          class: "tone-share thread-part",
          x: left,
          y: begin,
          width: 12,
          height: high,
          "fill-opacity": 0.8,
        }),
        label(`n${index}`, isNamed ? `${word} ${percent(weight)}` : "", left - 6, begin + high / 2 + 4, {
          ...END,
          "data-word": word,
          class: high < 13 ? "thread-tight" : undefined,
        }),
      ];
    });
    const tanks = toy.VALUES.flatMap((name, property): Shape[] => {
      const top = 14 + property * (tall + 32);
      const amount = output[property] ?? 0;
      return [
        shape("rect", `tank ${name}`, { class: "thread-tank", x: right, y: top, width: 26, height: tall }),
        shape("rect", `full ${name}`, {
          class: "tone-value",
          x: right,
          y: top + tall * (1 - amount),
          width: 26,
          height: tall * amount,
          "fill-opacity": 0.8,
        }),
        label(`t ${name}`, name, right + 32, top + tall / 2, START),
        label(`a ${name}`, exact(amount, 2), right + 32, top + tall / 2 + 17, { ...START, class: "tone-value" }),
      ];
    });
    return {
      height,
      shapes: [...shapes, ...tanks],
      said: toy.VALUES.map((name, index) => `${name} ${exact(output[index] ?? 0, 2)}`).join(", "),
    };
  };
}

/** A row a query, a column a key: what may be seen, with the weights of one row. */
export function triangleIdea(
  words: readonly string[],
  asker: number,
  isCausal: boolean,
  weights: readonly number[],
): Draw {
  return (_, width) => {
    const height = heightOf(width);
    const left = 74;
    const cell = Math.min((height - 56) / words.length, (width - left - 4) / words.length);
    const top = height - cell * words.length - 4;
    const shapes = words.flatMap((word, row): Shape[] => {
      const look = row === asker ? { class: "asking" } : {};
      const cells = words.map((_, col) => {
        const isHidden = isCausal && col > row;
        const depth = row === asker ? 0.12 + 0.88 * (weights[col] ?? 0) : 0.22;
        const place = { x: left + col * cell, y: top + row * cell, width: cell - 2, height: cell - 2 };
        return shape("rect", `${row} ${col}`, {
          class: isHidden ? "thread-hidden" : "tone-share",
          ...place,
          "fill-opacity": isHidden ? 0 : depth,
        });
      });
      const column = `rotate(-60 ${left + (row + 0.6) * cell} ${top - 5})`;
      const figures =
        row === asker
          ? weights.map((weight, col) => ({ weight, col })).filter(({ weight }) => weight >= LEAST_NAMED)
          : [];
      return [
        label(`r${row}`, word, left - 6, top + (row + 0.68) * cell, { ...END, ...look }),
        label(`c${row}`, word, left + (row + 0.6) * cell, top - 5, {
          ...START,
          transform: column,
          class: "board-small",
        }),
        ...cells,
        ...figures.map(({ weight, col }) =>
          label(`f${col}`, String(Math.round(100 * weight)), left + (col + 0.5) * cell - 1, top + (row + 0.66) * cell, {
            "text-anchor": "middle",
            class: "thread-on",
            "data-word": words[col],
          }),
        ),
      ];
    });
    return {
      height,
      shapes,
      said: isCausal ? "Each word sees itself and the words before." : "Each word sees all words.",
    };
  };
}

// Two layers of hand-made weights: what "it" reads in the first decides what it asks for in the second. Pure.

import type { Matrix } from "../../src/model/matrix.js";
import type { Cell } from "../../src/model/store.js";
import * as toy from "../../src/model/toy.js";
import { during, figure, mix, type Shape, shape, type View } from "../../src/ui/board.js";
import { exact, percent } from "../../src/ui/numbers.js";
import { arc, grown } from "./ribbons.js";

export const LAYER_STEPS = ["one layer alone", "layer 1", "added to “it”", "layer 2"];

const [TOP, ROW, FIGURES, BARS] = [22, 26, 96, 62];
const BASE = TOP + toy.COUNT * ROW + 14;
const HEIGHT = BASE + BARS + 34;
const middle = (word: number): number => TOP + (word + 0.5) * ROW;

/** Each layer's input, the head that reads it, and the row of "it". */
export function layersOf(ending: toy.Ending) {
  const x = toy.vectorsOf(ending);
  const of = (input: Matrix, head: "adjectives" | "nouns") => ({ x: input, head, row: toy.rowOf(input, head, toy.IT) });
  const [first, second, alone] = [of(x, "adjectives"), of(toy.afterLayer(x), "nouns"), of(x, "nouns")];
  return { words: [...toy.WORDS, ending], first, second, alone };
}

export type Layers = ReturnType<typeof layersOf>;

/** What each step is about, at the cell that shows it. */
export function tellingCell({ words, second }: Layers, step: number): Cell {
  const noun = [toy.ANIMAL, toy.ROAD].reduce((a, b) =>
    (second.row.weights[b] ?? 0) > (second.row.weights[a] ?? 0) ? b : a,
  );
  const col = [noun, words.length - 1, noun === toy.ANIMAL ? 2 : 3, noun][step] ?? 0;
  return { name: `${["A0", "A1", "Q2", "A2"][step]}-0`, row: 0, col };
}

export function twoLayers(layers: Layers, at: number, width: number): View {
  const { words, first, second, alone } = layers;
  const [reads, gains, asks] = [during(at, 0, 1), during(at, 1, 2), during(at, 2, 3)];
  const half = width / 2 + 6;
  const out = Math.min(150, half - FIGURES - 8);
  const between = (of: "query" | "weights", t: number): readonly number[] =>
    second.row[of].map((value, index) => mix(alone.row[of][index] ?? 0, value, t));
  const columns = [
    { x: 0, layer: 1, weights: first.row.weights, shown: reads, tone: "key" },
    { x: half, layer: 2, weights: between("weights", asks), shown: 1, tone: "query" },
  ];
  const sides = columns.flatMap(({ x, layer, weights, shown, tone }) => {
    const told = layer === 2 && at < 2.5 ? "A0" : `A${layer}`;
    const look = (word: number) => ({ "data-pick": `${told}-0.0.${word}`, opacity: shown });
    return [
      figure(`t${layer}`, `layer ${layer}`, [x + FIGURES + 4, 13], { class: `tone-${tone}`, "text-anchor": "start" }),
      ...words.flatMap((word, index): readonly Shape[] => {
        const [y, weight] = [middle(index), weights[index] ?? 0];
        const said = { class: index === toy.IT ? "asking" : "", "text-anchor": "start" };
        const weighed = { class: `tone-${tone} board-small`, "text-anchor": "end", ...look(index) };
        const wide = Math.max(0.4, weight * 16);
        const d = arc(x + FIGURES + 2, [middle(toy.IT), y], out);
        const way = { d, class: `tone-${tone} board-arc`, "stroke-width": wide, ...look(index) };
        return [
          figure(`l${layer}.${index}`, word, [x, y + 4], said),
          figure(`p${layer}.${index}`, percent(weight), [x + FIGURES - 4, y + 4], weighed),
          ...(index === toy.IT ? [] : [shape("path", `a${layer}.${index}`, way)]),
        ];
      }),
    ];
  });
  const look = { class: "tone-value board-arc", "stroke-width": 3, ...grown(gains), "data-pick": "O1-0.0.0" };
  const gain = shape("path", "gain", { d: `M24 ${middle(toy.IT) + 9}H${half - 6}`, ...look });
  const shapes = [...sides, ...(gains > 0 ? [gain] : []), ...barsOf(between("query", gains), width)];
  return { height: HEIGHT, shapes, said: layersText(layers, Math.round(at)) };
}

/** What "it" asks for in layer 2, property by property. */
function barsOf(query: readonly number[], width: number): readonly Shape[] {
  const room = Math.max(12, Math.min(110, (width - FIGURES) / toy.KEY_WIDTH));
  const start = { "text-anchor": "start" };
  return [
    figure("bars", "layer 2’s query", [0, BASE + BARS - 2], start),
    ...query.flatMap((value, index): readonly Shape[] => {
      const [x, high] = [FIGURES + 4 + index * room, (value / 8) * BARS];
      const place = { x, y: BASE + BARS - high, width: room - 12, height: high };
      return [
        shape("rect", `b${index}`, { ...place, class: "tone-query", "data-pick": `Q2-0.0.${index}` }),
        figure(`b${index}`, exact(value, 1), [x, place.y - 4], start),
        figure(`n${index}`, toy.PROPERTIES[index] ?? "", [x, BASE + BARS + 15], start),
      ];
    }),
  ];
}

export function layersText({ words, first, second, alone }: Layers, step: number): string {
  const nouns = ({ row }: Layers["first"]): string =>
    [toy.ANIMAL, toy.ROAD].map((word) => `${words[word]} ${percent(row.weights[word] ?? 0)}`).join(", ");
  const [life = 0, size = 0] = first.row.output;
  const texts = [
    `A query for a noun cannot choose: ${nouns(alone)}.`,
    `In layer 1, the query of “it” is for an adjective. It finds ${words.at(-1)}: ${percent(first.row.weights.at(-1) ?? 0)}.`,
    `The output is added to “it”: life ${exact(life, 2)}, size ${exact(size, 2)}. So layer 2’s query has life ${exact(second.row.query[2] ?? 0, 1)}, size ${exact(second.row.query[3] ?? 0, 1)}.`,
    `Layer 2 can choose: ${nouns(second)}. Change the last word, and it flips.`,
  ];
  return texts[step] ?? "";
}

// What stands around the moving words: arcs of the word in the light, which travel with them, its output below it, and ways. Pure.

import { at as entry } from "../../src/model/matrix.js";
import { during, figure, mix, type Shape, shape } from "../../src/ui/board.js";
import { exact, percent } from "../../src/ui/numbers.js";
import { LINE, type Spot, TALL, type Way } from "../../src/ui/order-board.js";
import { attendIn, type OrderScene } from "./scene.js";
import { FEATURES, WIDTH } from "./vectors.js";

const [FOOT, DEEP, HALF] = [LINE + TALL, 84, 26];
const MIDDLE = FOOT + DEEP + HALF + 16;
const HEIGHT = MIDDLE + HALF + 44;
const DOTTED = { class: "tone-soft board-arc", "stroke-dasharray": "2 4", fill: "none" };

export function morph(scene: OrderScene, { from, to, at, width, spots }: Way) {
  const { words, state } = scene;
  const [asker, row] = [spots[state.asker], scene.places.indexOf(state.asker)];
  const read = (places: readonly number[]) => {
    const { weights, output } = attendIn(scene, places);
    const place = places.indexOf(state.asker);
    return {
      weights: words.map((_, word) => entry(weights, place, places.indexOf(word))),
      output: FEATURES.map((_, col) => entry(output, place, col)),
    };
  };
  const [before, after] = [read(from), read(to)];
  const between = (of: "weights" | "output") => before[of].map((one, index) => mix(one, after[of][index] ?? one, at));
  const [weights, output] = [between("weights"), between("output")];
  const figures = weights.map(percent);
  if (asker === undefined) return { height: HEIGHT, shapes: [], figures, said: "No words yet." };
  return {
    height: HEIGHT,
    figures,
    shapes: [
      ...spots.flatMap((spot, word) => wayOf(spot, word, at)),
      ...spots.flatMap((spot, word) =>
        word === state.asker ? [] : [arcOf(asker, spot, weights[word] ?? 0, `${row}.${scene.places.indexOf(word)}`)],
      ),
      ...outputOf(scene, asker, output, width),
    ],
    said: `${words[state.asker]}: ${words.map((word, index) => `${word} ${figures[index]}`).join(", ")}`,
  };
}

const middleOf = ({ x, width }: Spot): number => x + width / 2;

/** The way of a word, above its letters, once it has left. */
function wayOf({ way, width }: Spot, word: number, at: number): readonly Shape[] {
  if (way === undefined) return [];
  const d = `M${way.from + width / 2} ${LINE}V${way.top}H${way.to + width / 2}V${LINE}`;
  return [shape("path", `w${word}`, { d, opacity: during(at, 0, 0.3), ...DOTTED })];
}

function arcOf(asker: Spot, spot: Spot, weight: number, cell: string): Shape {
  const [x1, x2] = [middleOf(asker), middleOf(spot)];
  const low = FOOT + Math.min(DEEP, 26 + Math.abs(x1 - x2) * 0.22);
  const d = `M${x1} ${asker.y + TALL}C${x1} ${low} ${x2} ${low} ${x2} ${spot.y + TALL}`;
  const look = { class: "tone-share board-arc", "stroke-width": Math.max(0.4, weight * 16) };
  return shape("path", `a${cell}`, { d, ...look, opacity: 0.75 * spot.opacity, "data-pick": `A.${cell}` });
}

/** Bars below the word, with a line where each was as written. */
function outputOf(
  { words, places, state, written }: OrderScene,
  asker: Spot,
  output: readonly number[],
  width: number,
) {
  const row = places.indexOf(state.asker);
  const before = FEATURES.map((_, col) => entry(written.output, state.asker, col));
  const room = Math.min(46, width / WIDTH);
  const half = (WIDTH * room) / 2;
  const middle = Math.min(width - half, Math.max(half, middleOf(asker)));
  const most = Math.max(1, ...[...output, ...before].map(Math.abs));
  const stem = `M${middleOf(asker)} ${asker.y + TALL}V${FOOT + 20}L${middle} ${FOOT + DEEP - 12}`;
  return [
    shape("path", "stem", { d: stem, ...DOTTED }),
    figure("title", `output of “${words[state.asker]}”`, [middle, FOOT + DEEP + 2], { class: "" }),
    ...output.flatMap((value, col): readonly Shape[] => {
      const [x, high] = [middle - half + (col + 0.5) * room, (value / most) * HALF];
      const old = MIDDLE - ((before[col] ?? 0) / most) * HALF;
      const place = { x: x - room * 0.36, y: MIDDLE - Math.max(0, high), width: room * 0.72, height: Math.abs(high) };
      const tone = high < 0 ? "tone-below" : "tone-value";
      return [
        shape("rect", `o${col}`, { ...place, class: tone, "data-output": value, "data-pick": `O.${row}.${col}` }),
        shape("path", `old${col}`, { d: `M${x - room * 0.44} ${old}h${room * 0.88}`, class: "board-arc" }),
        figure(`n${col}`, exact(value, 2), [x, MIDDLE + HALF + 14]),
        figure(`f${col}`, FEATURES[col] ?? "", [x, MIDDLE + HALF + 30]),
      ];
    }),
  ];
}

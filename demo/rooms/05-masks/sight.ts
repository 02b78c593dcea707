// What a query sees: its words in two columns, its weights as curves and bars. On the way from no mask to the mask, each rule takes its
// keys, one rule after the other, and the rest share out what those had. Pure.

import { at, fill, type Matrix } from "../../src/model/matrix.js";
import { type Draw, during, mix, type Shape, shape } from "../../src/ui/board.js";
import { percent } from "../../src/ui/numbers.js";
import { offsetOf, verdictsOn } from "./rules.js";
import { keyWord, type MaskScene, queryWord, sumOf } from "./scene.js";
import type { MaskState } from "./state.js";

const [LINE, TOP, INDEX] = [27, 24, 30];
/** Thinner curves of other queries are left out. */
const LEAST = 0.02;
const AT_END = { "text-anchor": "end" };

type OfPair = (row: number, key: number) => number;

/** `weights`: the weights under the mask, the kernel's where it runs. */
export function sightOf(scene: MaskScene, weights: Matrix, chosen: number): Draw {
  const { state } = scene;
  const { queries, keys } = state;
  const offset = offsetOf(state);
  const [firstQuery, firstKey] = [Math.max(0, offset), Math.max(0, -offset)];
  const queryY = (row: number): number => TOP + (firstQuery + row + 0.5) * LINE;
  const keyY = (key: number): number => TOP + (firstKey + key + 0.5) * LINE;
  const height = TOP + LINE * Math.max(firstQuery + queries, firstKey + keys) + 4;
  const rules = verdictsOn(state, 0, 0).map(({ rule }) => rule);
  return (place, width) => {
    const gone = goneAt(state, place);
    const weight = weightsAt(scene, weights, place);
    const [start, end] = [Math.min(150, width * 0.27), width * 0.48];
    const bars = end + INDEX + 66;
    const most = width - bars - 42;
    const text = (key: string, name: string, x: number, y: number, words: string, more = {}): Shape =>
      shape("text", key, { class: `sight-${name}`, x, y, ...more }, words);
    const curves = (row: number): Shape[] =>
      Array.from({ length: keys }, (_, key) => {
        const [y, to, middle] = [queryY(row), keyY(key), (start + end) / 2];
        const d = `M${start + 8} ${y}C${middle} ${y} ${middle} ${to} ${end - 6} ${to}`;
        const look = row === chosen ? "sight-curve chosen" : "sight-curve";
        return shape("path", `${row} ${key}`, { class: look, d, "stroke-width": 12 * weight(row, key) });
      }).filter((_, key) => row === chosen || weight(row, key) >= LEAST);
    const ofQuery = (_: unknown, row: number): Shape[] => {
      const [y, isChosen] = [queryY(row), row === chosen];
      const frame = { class: isChosen ? "sight-frame chosen" : "sight-frame", x: 0, y: y - LINE / 2 + 1 };
      const [word, look] = [queryWord(state, row), isChosen ? "word chosen" : "word"];
      return [
        text(`q${row}`, "index", 6, y + 4, `q${row + 1}`),
        text(`query ${row}`, look, start, y + 4, word, AT_END),
        shape("rect", `frame ${row}`, { ...frame, width: start + 8, height: LINE - 2, rx: 6, "data-pick": row }),
      ];
    };
    const ofKey = (_: unknown, key: number): Shape[] => {
      const [y, part, lost] = [keyY(key), weight(chosen, key), gone(chosen, key)];
      const look = lost === 1 ? "word gone" : "word";
      const by = lost === 0 ? "" : (rules[takerOf(state, chosen, key)] ?? "");
      const bar = { class: "tone-share", x: bars, y: y - 7, width: Math.max(0, part * most), height: 14, rx: 2 };
      return [
        text(`k${key}`, "index", end, y + 4, `k${key + 1}`),
        text(`key ${key}`, look, end + INDEX + 4 * lost, y + 4, keyWord(state, key), { opacity: 1 - 0.4 * lost }),
        shape("rect", `bar ${key}`, bar),
        text(`weight ${key}`, "weight", bars + part * most + 5, y + 4, percent(part)),
        text(`rule ${key}`, "index", width, y + 4, by, { ...AT_END, opacity: Math.max(0, 2 * lost - 1) }),
      ];
    };
    const others = Array.from({ length: queries }, (_, row) => row).filter((row) => row !== chosen);
    const shapes = [
      text("queries", "index", start, 12, "query", AT_END),
      text("keys", "index", end + INDEX, 12, "key"),
      text("weights", "index", bars, 12, "weight"),
      ...[...others, chosen].flatMap(curves),
      ...Array.from({ length: queries }).flatMap(ofQuery),
      ...Array.from({ length: keys }).flatMap(ofKey),
    ];
    const begun = rules.slice(0, Math.ceil(place * rules.length));
    const step = begun.length === 0 ? "no mask" : place === 1 ? "masked" : `hidden so far: ${begun.join(", ")}`;
    return { height, shapes, said: saidOf(scene, chosen, weight), step };
  };
}

/** The first rule that takes a key from a query; -1 for a key that stays. */
const takerOf = (state: MaskState, row: number, key: number): number =>
  verdictsOn(state, row, key).findIndex((verdict) => !verdict.sees);

/** How far each pair is taken, from 0 to 1, by one rule after the other. */
function goneAt(state: MaskState, place: number): OfPair {
  const { length } = verdictsOn(state, 0, 0);
  const taken = fill(state.queries, state.keys, (row, key) => takerOf(state, row, key));
  return (row, key) => {
    const rule = at(taken, row, key);
    return rule < 0 ? 0 : during(place, rule / length, (rule + 1) / length);
  };
}

/** What the keys that go had is shared out among the rest, as a softmax does; other ways to hide go straight to their weights. */
export function weightsAt({ state, plain, seen }: MaskScene, weights: Matrix, place: number): OfPair {
  const gone = goneAt(state, place);
  const left = fill(state.queries, state.keys, (row, key) => at(plain, row, key) * (1 - gone(row, key)));
  return (row, key) =>
    place === 1 || state.hiding !== "before" || sumOf(seen, row) === 0
      ? mix(at(plain, row, key), at(weights, row, key), during(place, 0, 1))
      : at(left, row, key) / sumOf(left, row);
}

function saidOf({ state }: MaskScene, row: number, weight: OfPair): string {
  const parts = Array.from({ length: state.keys }, (_, key) => `${keyWord(state, key)} ${percent(weight(row, key))}`);
  return `Weights of q${row + 1}, ${queryWord(state, row)}: ${parts.join(", ")}.`;
}

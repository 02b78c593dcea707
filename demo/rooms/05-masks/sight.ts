// What a query sees: its words in two columns, its weights as curves and bars. On the way from no mask to the mask, each rule takes its
// keys, one rule after the other. Pure.

import { at, type Matrix } from "../../src/model/matrix.js";
import { type Draw, during, mix, type Shape } from "../../src/ui/board.js";
import { percent } from "../../src/ui/numbers.js";
import { offsetOf, verdictsOn } from "./rules.js";
import type { MaskScene } from "./scene.js";
import { keyWord, queryWord } from "./words.js";

const [LINE, TOP, INDEX] = [27, 24, 30];
/** Thinner curves of other queries are left out. */
const LEAST = 0.02;

/** `shares`: the weights under the mask, the kernel's where it runs. */
export function sightOf(scene: MaskScene, shares: Matrix, chosen: number): Draw {
  const { state, plain } = scene;
  const { queries, keys } = state;
  const offset = offsetOf(state);
  const yOf = (place: number): number => TOP + (place + 0.5) * LINE;
  const queryY = (row: number): number => yOf(row + Math.max(0, offset));
  const keyY = (key: number): number => yOf(key + Math.max(0, -offset));
  const height = TOP + LINE * Math.max(queries + Math.max(0, offset), keys + Math.max(0, -offset)) + 4;
  return (place, width) => {
    const weight = (row: number, key: number): number =>
      mix(at(plain, row, key), at(shares, row, key), during(place, 0, 1));
    const [start, end] = [Math.min(150, width * 0.27), width * 0.48];
    const bars = end + INDEX + 66;
    const most = width - bars - 42;
    const text = (key: string, name: string, x: number, y: number, words: string, more = {}): Shape => {
      return { key, tag: "text", attributes: { class: `sight-${name}`, x, y, ...more }, text: words };
    };
    const curves = (row: number): Shape[] =>
      Array.from({ length: keys }, (_, key) => ({ key, part: weight(row, key) }))
        .filter(({ part }) => row === chosen || part >= LEAST)
        .map(({ key, part }) => {
          const [y, to, middle] = [queryY(row), keyY(key), (start + end) / 2];
          const attributes = {
            class: row === chosen ? "sight-curve chosen" : "sight-curve",
            d: `M${start + 8} ${y}C${middle} ${y} ${middle} ${to} ${end - 6} ${to}`,
            "stroke-width": 12 * part,
            "data-pair": `${row} ${key}`,
          };
          return { key: `${row} ${key}`, tag: "path", attributes };
        });
    const ofQuery = (_: unknown, row: number): Shape[] => {
      const [y, isChosen] = [queryY(row), row === chosen];
      const frame = { class: isChosen ? "sight-frame chosen" : "sight-frame", x: 0, y: y - LINE / 2 + 1 };
      return [
        text(`q${row}`, "index", 6, y + 4, `q${row + 1}`),
        text(`query ${row}`, isChosen ? "word chosen" : "word", start, y + 4, queryWord(state, row), {
          "text-anchor": "end",
        }),
        {
          key: `frame ${row}`,
          tag: "rect",
          attributes: { ...frame, width: start + 8, height: LINE - 2, rx: 6, "data-pick": row },
        },
      ];
    };
    const ofKey = (_: unknown, key: number): Shape[] => {
      const verdicts = verdictsOn(state, chosen, key);
      const rule = verdicts.findIndex(({ sees }) => !sees);
      const gone = rule < 0 ? 0 : during(place, rule / verdicts.length, (rule + 1) / verdicts.length);
      const [y, part] = [keyY(key), weight(chosen, key)];
      const look = gone === 1 ? "word gone" : "word";
      const bar = { class: "sight-bar", x: bars, y: y - 7, width: Math.max(0, part * most), height: 14, rx: 2 };
      return [
        text(`k${key}`, "index", end, y + 4, `k${key + 1}`),
        text(`key ${key}`, look, end + INDEX + 4 * gone, y + 4, keyWord(state, key), {
          opacity: 1 - 0.4 * gone,
        }),
        { key: `bar ${key}`, tag: "rect", attributes: bar },
        text(`weight ${key}`, "weight", bars + part * most + 5, y + 4, percent(part), { "data-key": key }),
        ...(rule < 0
          ? []
          : [
              text(`rule ${key}`, "index", width, y + 4, verdicts[rule]?.rule ?? "", {
                "text-anchor": "end",
                opacity: gone,
              }),
            ]),
      ];
    };
    const others = Array.from({ length: queries }, (_, row) => row).filter((row) => row !== chosen);
    const shapes = [
      text("queries", "index", start, 12, "query", { "text-anchor": "end" }),
      text("keys", "index", end + INDEX, 12, "key"),
      text("weights", "index", bars, 12, "weight"),
      ...[...others, chosen].flatMap(curves),
      ...Array.from({ length: queries }).flatMap(ofQuery),
      ...Array.from({ length: keys }).flatMap(ofKey),
    ];
    return { height, shapes, said: saidOf(scene, chosen, weight) };
  };
}

function saidOf({ state }: MaskScene, row: number, weight: (row: number, key: number) => number): string {
  const parts = Array.from({ length: state.keys }, (_, key) => `${keyWord(state, key)} ${percent(weight(row, key))}`);
  return `Weights of q${row + 1}, ${queryWord(state, row)}: ${parts.join(", ")}.`;
}

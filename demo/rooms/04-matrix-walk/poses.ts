// Where each matrix stands on the board at each place of the walk. Lengths are pixels: `u` goes along a row of X, `v` down a column; where
// words are columns the drawing swaps both.

import { during, mix } from "../../src/ui/board.js";
import type { Scene } from "../../src/ui/walk-matrices.js";

export const ON_BOARD = ["X", "Wq", "Wk", "Wv", "Q", "K", "V", "S", "O"] as const;
export type OnBoard = (typeof ON_BOARD)[number];

/** `size`: of a cell; `seen`: its opacity; `turn`: 1 is turned over its diagonal; `beside`: where its title stands, 0 below, 1 beside. */
export type Pose = Readonly<Record<"u" | "v" | "size" | "seen" | "turn" | "beside", number>>;

/** Left times top gives result, by the place at which the result is filled. */
export const PRODUCTS: Readonly<Record<number, readonly [left: OnBoard, top: OnBoard, result: OnBoard]>> = {
  1: ["X", "Wq", "Q"],
  2: ["X", "Wk", "K"],
  3: ["X", "Wv", "V"],
  4: ["Q", "K", "S"],
  8: ["S", "V", "O"],
};
export const LAST = 8;

/** Of the way from one place to the next: matrices move first, then the result is filled. */
export const MOVING = 0.42;

const [GAP, TITLE, NAMES, LARGEST] = [14, 22, 50, 30];
const TALLEST = 440;

/** Rows and columns. */
export function sizesOf({ walk }: Scene): Readonly<Record<OnBoard, readonly [number, number]>> {
  const [asking, words, width, own] = [walk.askers.length, walk.labels.length, walk.x.cols, walk.headWidth];
  const [weights, perWord, perQuery] = [[width, own] as const, [words, own] as const, [asking, own] as const];
  const products = { Q: perQuery, K: perWord, V: perWord, S: [asking, words] as const, O: perQuery };
  return { X: [words, width], Wq: weights, Wk: weights, Wv: weights, ...products };
}

export type Layout = ReturnType<typeof layoutOf>;

/** `across`: the board, along a row of words. `label`: how long the longest word is. */
export function layoutOf(scene: Scene, across: number, label: number) {
  const sizes = sizesOf(scene);
  const isTurned = scene.state.by === "columns";
  const [wide, tall] = isTurned ? [TALLEST, across] : [across, TALLEST];
  /** By place: those at which a matrix stands follow each other. */
  const known = new Map<OnBoard, Map<number, Pose>>(ON_BOARD.map((name) => [name, new Map()]));
  let [usedWide, usedTall] = [0, 0];
  const put = (name: OnBoard, place: number, pose: Partial<Pose> & Pick<Pose, "u" | "v" | "size">): void => {
    const [rows, cols] = pose.turn === 1 ? [sizes[name][1], sizes[name][0]] : sizes[name];
    known.get(name)?.set(place, { seen: 1, turn: 0, beside: 0, ...pose });
    usedWide = Math.max(usedWide, pose.u + cols * pose.size);
    usedTall = Math.max(usedTall, pose.v + rows * pose.size + TITLE);
  };
  /** Matrices that wait, small and side by side. */
  const park = (place: number, names: readonly OnBoard[], u: number, v: number, most: number): void => {
    let left = u;
    for (const name of names) {
      const [rows, cols] = sizes[name];
      const size = Math.min(most, (tall - v - TITLE) / rows);
      put(name, place, { u: left, v, size });
      left += cols * size + GAP;
    }
  };
  const alone = (name: OnBoard, place: number, above: number, waiting: readonly OnBoard[]): void => {
    const [rows, cols] = sizes[name];
    const waits = waiting.reduce((sum, one) => sum + sizes[one][1] * 0.34 + 1, 0);
    const size = Math.min(LARGEST, (wide - label - GAP) / (cols + waits), (tall - above - TITLE) / rows);
    const u = label + Math.max(0, (wide - label - (cols + waits) * size) / 2);
    put(name, place, { u, v: above, size });
    park(place, waiting, u + cols * size + 1.5 * GAP, above, 0.34 * size);
  };
  const product = (place: number, waiting: readonly OnBoard[]): void => {
    const [left, top, result] = PRODUCTS[place] ?? ["X", "Wq", "Q"];
    const [[high, inner], [rows, cols]] = [sizes[left], sizes[result]];
    const above = place < 4 ? NAMES : label;
    const beside = 34;
    const room = wide - label - GAP - beside;
    const size = Math.min(LARGEST, room / (inner + cols), (tall - above - GAP - TITLE) / (inner + high));
    const start = Math.max(0, (room - (inner + cols) * size) / 2);
    const [u, v] = [start + label + inner * size + GAP, above + inner * size + GAP];
    put(left, place, { u: start + label, v, size });
    put(top, place, { u, v: above, size, turn: top === "K" ? 1 : 0, beside: 1 });
    put(result, place, { u, v: v + (high - rows) * size, size });
    const most = waiting.map((name) => (v - GAP - TITLE) / sizes[name][0]);
    const corner = (label + inner * size) / (2 * scene.walk.headWidth + 3);
    park(place, waiting, start, 0, Math.min(0.45 * size, corner, ...most));
  };
  alone("X", 0, NAMES, []);
  product(1, []);
  product(2, ["Q"]);
  product(3, ["Q", "K"]);
  product(4, ["V"]);
  for (const place of [5, 6, 7]) alone("S", place, label, ["V"]);
  product(8, []);
  const rest = (name: OnBoard, place: number): Pose => {
    const poses = known.get(name) ?? new Map<number, Pose>();
    const [first, last] = [Math.min(...poses.keys()), Math.max(...poses.keys())];
    const near = poses.get(Math.min(last, Math.max(first, place)));
    if (near === undefined) throw new Error(`${name} is never on the board`);
    if (place >= first && place <= last) return near;
    const isFromLeft = name === "X" || name === "Q";
    const [du, dv] = place < first && !name.startsWith("W") ? [0, 0] : isFromLeft ? [-60, 0] : [0, -50];
    return { ...near, u: near.u + du, v: near.v + dv, seen: 0 };
  };
  return {
    height: Math.ceil(isTurned ? usedWide + TITLE : usedTall),
    rest,
    pose: (name: OnBoard, at: number): Pose => {
      const place = Math.min(LAST - 1, Math.floor(at));
      return between(rest(name, place), rest(name, place + 1), at - place);
    },
  };
}

/** What leaves goes first, then what stays moves and turns, and what comes appears. */
export function between(from: Pose, to: Pose, part: number): Pose {
  const moved = during(part, 0, 0.3);
  const seen = to.seen < from.seen ? during(part, 0, 0.15) : during(part, 0.15, 0.32);
  const way = (key: keyof Pose, t = moved): number => mix(from[key], to[key], t);
  const turn = way("turn", during(part, 0.22, MOVING));
  return { u: way("u"), v: way("v"), size: way("size"), beside: way("beside"), seen: way("seen", seen), turn };
}

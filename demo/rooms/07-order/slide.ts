// What a kind of position does while the sentence slides along: waves that are added, hands that turn, slopes over the words. Pure.

import { bestOf, at as entry, fill, type Matrix } from "../../src/model/matrix.js";
import { figure, mix, type Shape, shape, type View } from "../../src/ui/board.js";
import { exact } from "../../src/ui/numbers.js";
import { scoreBias, sinusoid, speed, TABLE } from "./positions.js";
import type { OrderScene } from "./scene.js";
import type { Kind } from "./state.js";
import { WIDTH } from "./vectors.js";

/** Positions by which it can slide. */
const SLIDE = 4;
export const SLIDE_STEPS = ["as it stands", ...[1, 2, 3, SLIDE].map((by) => `moved on by ${by}`)];
const PAIRS = WIDTH / 2;
/** Pixels. */
const [HIGH, FOOT] = [188, 38];

interface Axis {
  readonly scene: OrderScene;
  readonly by: number;
  readonly width: number;
  /** Of a position counted from the first one that is shown. */
  readonly x: (position: number) => number;
}

const DRAW: Readonly<Record<Kind, ((axis: Axis) => readonly Shape[]) | undefined>> = {
  none: undefined,
  causal: slope,
  sinusoidal: waves,
  learned: waves,
  rope: clocks,
  alibi: slope,
  relative: slope,
};

/** Which colour is what, kind by kind. */
export function slideTones(scene: OrderScene): Readonly<Record<string, string>> {
  const { kind } = scene.state;
  if (kind === "sinusoidal") return { query: "sine", key: "cosine" };
  if (kind === "learned") return { query: "first column of a pair", key: "second column" };
  if (kind !== "rope") return { share: "what is added to the score of each key" };
  const row = scene.places.indexOf(scene.state.asker);
  const [asker, nearest] = [scene.labels[row], scene.labels[nearestKey(scene, row)]];
  return { query: `query of “${asker}”`, key: `key of “${nearest}”, with the angle between` };
}

export const slides = ({ state, words }: OrderScene): boolean => DRAW[state.kind] !== undefined && words.length > 0;

export function slide(scene: OrderScene, by: number, width: number): View {
  const { labels, state } = scene;
  const room = width / (labels.length + SLIDE);
  const x = (position: number): number => (position + 0.5) * room;
  const letters = Math.max(2, Math.floor(room / 7));
  const words = labels.flatMap((word, place): readonly Shape[] => {
    const said = word.length > letters ? `${word.slice(0, letters - 1)}…` : word;
    const isAsker = scene.places[place] === state.asker;
    const look = { class: isAsker ? "asking" : "", "data-pick": `word.${scene.places[place]}` };
    return [
      figure(`l${place}`, said, [x(place + by), HIGH + 20], look),
      figure(`n${place}`, exact(state.shift + place + by, 1), [x(place + by), HIGH + 35]),
    ];
  });
  const drawn = slides(scene) ? DRAW[state.kind]?.({ scene, by, width, x }) : undefined;
  const first = state.shift + by;
  const said = `${labels.join(" ")}, positions ${first} to ${first + labels.length - 1}`;
  return { height: HIGH + FOOT, shapes: [...(drawn ?? []), ...words], said };
}

/** Each pair of columns in a lane: sin and cos, or two columns of the table; the dots are what a word gets. */
function waves({ scene: { state, labels }, by, width, x }: Axis): readonly Shape[] {
  const isWave = state.kind === "sinusoidal";
  const valueAt = (position: number, col: number): number => {
    if (isWave) return sinusoid(state.base, position, col);
    const row = (before: number): number => entry(TABLE, Math.min(TABLE.rows - 1, before), col);
    const whole = Math.floor(position);
    return mix(row(whole), row(whole + 1), position - whole) / 2;
  };
  const lane = HIGH / PAIRS;
  const y = (position: number, col: number): number =>
    lane * ((col >> 1) + 0.5) - valueAt(state.shift + position, col) * (lane / 2 - 5);
  const points = Array.from({ length: 161 }, (_, step) => (step / 160) * (labels.length + SLIDE - 1));
  return Array.from({ length: WIDTH }, (_, col): readonly Shape[] => {
    const tone = col % 2 === 0 ? "tone-query" : "tone-key";
    const d = `M${points.map((position) => `${x(position).toFixed(1)} ${y(position, col).toFixed(2)}`).join("L")}`;
    return [
      shape("path", `p${col}`, { d, class: `${tone} board-arc`, "stroke-width": 1.4 }),
      ...labels.map((_, place) => {
        const dot = { cx: x(place + by), cy: y(place + by, col), r: Math.min(4, width / 120), class: tone };
        return shape("circle", `d${col}.${place}`, { ...dot, "data-pick": `P.${place}.${col}` });
      }),
    ];
  }).flat();
}

/** A clock for each pair of columns: both hands turn, and the angle between them stays. */
function clocks({ scene, by, width }: Axis): readonly Shape[] {
  const { now, places, state } = scene;
  const row = places.indexOf(state.asker);
  const key = nearestKey(scene, row);
  const room = width / PAIRS;
  const radius = Math.min(56, room / 2 - 8);
  return Array.from({ length: PAIRS }, (_, pair): readonly Shape[] => {
    const [cx, cy] = [(pair + 0.5) * room, 28 + radius];
    const handOf = (matrix: Matrix, place: number) => {
      const [a, b] = [entry(matrix, place, 2 * pair), entry(matrix, place, 2 * pair + 1)];
      const angle = Math.atan2(b, a) + (state.shift + place + by) * speed(state.base, pair);
      return { place, angle, length: Math.hypot(a, b) };
    };
    const [q, k] = [handOf(now.plainQ, row), handOf(now.plainK, key)];
    const apart = Math.atan2(Math.sin(q.angle - k.angle), Math.cos(q.angle - k.angle));
    const said = q.length > 0 && k.length > 0 ? `${exact((apart * 180) / Math.PI, 1)}°` : "–";
    const unit = radius / (Math.max(q.length, k.length) || 1);
    const drawHand = (name: "q" | "k", tone: string, { place, angle, length }: typeof q): Shape =>
      shape("path", `${name}${pair}`, {
        d: `M${cx} ${cy}l${Math.cos(angle) * length * unit} ${-Math.sin(angle) * length * unit}`,
        class: `tone-${tone} board-arc`,
        "stroke-width": 4,
        "data-pick": `${name.toUpperCase()}.${place}.${2 * pair}`,
      });
    return [
      shape("circle", `c${pair}`, { cx, cy, r: radius, class: "board-arc", opacity: 0.6 }),
      figure(`pair${pair}`, `pair ${pair + 1}`, [cx, 14]),
      drawHand("q", "query", q),
      drawHand("k", "key", k),
      figure(`a${pair}`, said, [cx, cy + radius + 18], { class: "", "data-angle": apart }),
    ];
  }).flat();
}

/** The word that the one in the light weighs most, itself left out. */
function nearestKey({ now: { weights } }: OrderScene, row: number): number {
  const others = fill(1, weights.cols, (_, key) => (key === row ? -1 : entry(weights, row, key)));
  return bestOf(others, 0);
}

/** What is added to the score of each key; what is hidden has no dot. */
function slope({ scene, by, width, x }: Axis): readonly Shape[] {
  const { labels, places, state, now } = scene;
  const row = places.indexOf(state.asker);
  const keys = labels.flatMap((_, key) => (state.kind === "causal" && key > row ? [] : [key]));
  const bias = (key: number): number => scoreBias(state, row, key);
  const [low, high] = [Math.min(-1, ...keys.map(bias)), Math.max(0, ...keys.map(bias))];
  const y = (value: number): number => 30 + ((high - value) / (high - low)) * (HIGH - 70);
  const line = keys.map((key) => `${x(key + by)} ${y(bias(key))}`);
  const zero = `M0 ${y(0)}H${width}`;
  return [
    shape("path", "zero", { d: zero, class: "tone-soft board-arc", "stroke-dasharray": "2 4" }),
    shape("path", "slope", { d: `M${line.join("L")}`, class: "tone-share board-arc", "stroke-width": 2.5 }),
    ...labels.flatMap((_, key): readonly Shape[] => {
      const isHidden = !keys.includes(key);
      const [cx, cy] = [x(key + by), y(isHidden ? 0 : bias(key))];
      const pick = { "data-pick": `${state.kind === "causal" ? "Z" : "B"}.${row}.${key}` };
      const said = isHidden ? "−∞" : exact(entry(now.bias, row, key), 2);
      return [
        ...(isHidden ? [] : [shape("circle", `d${key}`, { cx, cy, r: 5, class: "tone-share", ...pick })]),
        figure(`b${key}`, said, [cx, isHidden || bias(key) >= 0 ? cy - 12 : cy + 20], pick),
      ];
    }),
  ];
}

// The plane: what one more key would get wherever it stood, and query and keys as dots to be moved.

import { at } from "../../src/model/matrix.js";
import { Board, figure, type Shape, shape, type View } from "../../src/ui/board.js";
import { exact, percent } from "../../src/ui/numbers.js";
import { KEYS, KINDS } from "./kinds.js";
import type { ScoreAnswer, ScoreScene } from "./scene.js";

/** The plane reaches as far to both sides of the origin, in steps between two places of the grid. */
const [ACROSS, DOWN, STEP] = [5, 2.5, 0.125];
const COLUMNS = (2 * ACROSS) / STEP + 1;

/** Row by row, from the upper left. */
export const PLACES: readonly (readonly [x: number, y: number])[] = Array.from(
  { length: COLUMNS * ((2 * DOWN) / STEP + 1) },
  (_, index) => [STEP * (index % COLUMNS) - ACROSS, DOWN - STEP * Math.floor(index / COLUMNS)],
);

const LEVELS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
/** How strong the colour is at a weight. */
const strength = (weight: number): number => 0.8 * Math.sqrt(weight);
const [SNAP, NUDGE] = [0.05, 0.1];
/** Radius of the ring around the query. */
const RING = 20;
const MOST_UNIT = 92;
const LEGEND = 44;

export class Plane {
  readonly board: Board;
  #regions: readonly string[] = [];
  #of: ScoreAnswer | undefined;
  #scene: ScoreScene | undefined;
  /** Pixels of 1, and where the origin is. */
  #scale = { unit: 1, left: 0, top: 0 };

  /** `moved`: `key` -1 is the query. */
  constructor(moved: (key: number, x: number, y: number) => void) {
    const move = (name: string, x: number, y: number): void => {
      const inside = (value: number, most: number): number => Math.min(most, Math.max(-most, value));
      const snapped = (value: number): number => Number((Math.round(value / SNAP) * SNAP).toFixed(2));
      moved(Number(name), snapped(inside(x, ACROSS)), snapped(inside(y, DOWN)));
    };
    this.board = new Board({
      steps: [""],
      dragged: (name, x, y) => {
        const { unit, left, top } = this.#scale;
        move(name, (x - left) / unit, (top - y) / unit);
      },
      nudged: (name, right, down) => {
        const [x, y] = this.#vector(Number(name));
        move(name, x + right * NUDGE, y - down * NUDGE);
      },
    });
    this.board.element.classList.add("plane");
  }

  /** Without an answer the colours stay what they were. */
  show(scene: ScoreScene, answer: ScoreAnswer | undefined): void {
    if (answer !== undefined && answer !== this.#of) {
      this.#regions = LEVELS.map((level) => regionFrom(answer.plane, level));
      this.#of = answer;
    }
    this.#scene = scene;
    const found = answer?.weights ?? scene.weights;
    const row = KINDS.indexOf(scene.state.kind);
    const weights = Array.from({ length: KEYS }, (_, key) => at(found, row, key));
    this.board.show((_, width) => this.#draw(weights, width));
  }

  #vector(key: number): readonly [number, number] {
    const { q, K } = this.#scene?.typed ?? {};
    const matrix = key < 0 ? q : K;
    return matrix === undefined ? [0, 0] : [at(matrix, Math.max(0, key), 0), at(matrix, Math.max(0, key), 1)];
  }

  #draw(weights: readonly number[], width: number): View {
    const across = width < 600 ? 4 : ACROSS;
    const unit = Math.min(MOST_UNIT, width / (2 * across));
    const [left, top, wide] = [width / 2, DOWN * unit, 2 * across * unit];
    this.#scale = { unit, left, top };
    const start = left - wide / 2;
    const axis = { class: "plane-axis" };
    const name = (text: string, x: number, y: number, anchor: string): Shape =>
      figure(text, text, [x, y], { class: "plane-name", "text-anchor": anchor });
    const dots = [...weights.map((weight, key) => ({ key, weight })), { key: -1, weight: 0 }];
    const shapes: Shape[] = [
      shape("rect", "ground", { class: "plane-ground", x: start, width: wide, height: 2 * top }),
      ...LEVELS.map((level, index): Shape => {
        const below = index === 0 ? 0 : strength(LEVELS[index - 1] ?? 0);
        return shape("path", String(level), {
          class: "plane-level",
          "data-level": level,
          d: this.#regions[index] ?? "",
          transform: `translate(${left - ACROSS * unit} 0) scale(${unit * STEP})`,
          "fill-opacity": (strength(level) - below) / (1 - below),
        });
      }),
      shape("line", "across", { ...axis, x1: start, y1: top, x2: start + wide, y2: top }),
      shape("line", "up", { ...axis, x1: left, y1: 0, x2: left, y2: 2 * top }),
      name("quiet", start + 6, top - 6, "start"),
      name("loud", start + wide - 6, top - 6, "end"),
      name("fast", left - 6, 16, "end"),
      name("slow", left - 6, 2 * top - 8, "end"),
      ...dots.reverse().flatMap(({ key, weight }) => this.#dot(key, weight)),
      ...legend(start, wide, 2 * top + 10),
    ];
    const said = `Weights: ${weights.map((weight, key) => `k${key + 1} ${percent(weight)}`).join(", ")}.`;
    return { height: 2 * top + LEGEND, shapes, said };
  }

  #dot(key: number, weight: number): Shape[] {
    const { unit, left, top } = this.#scale;
    const [x, y] = this.#vector(key);
    const [cx, cy, isQuery] = [left + x * unit, top - y * unit, key < 0];
    const r = 6 + 12 * Math.sqrt(weight || 0);
    const name = isQuery ? "q" : `k${key + 1}`;
    const figure = Number.isNaN(weight) ? "no number" : percent(weight);
    const said = `${exact(x, 2)}, ${exact(y, 2)}${isQuery ? "" : `; weight ${figure}`}`;
    const place = { cx, cy };
    const parts = isQuery
      ? [
          shape("line", "arrow", { class: "plane-query", x1: left, y1: top, x2: cx, y2: cy }),
          shape("circle", "ring", { class: "plane-query", ...place, r: RING }),
        ]
      : [
          shape("circle", `${name} ground`, { class: "plane-key", ...place, r }),
          shape("circle", `${name} weight`, { class: "plane-weight", ...place, r, "fill-opacity": weight || 0 }),
        ];
    const range = { "aria-valuemin": -ACROSS, "aria-valuenow": x, "aria-valuemax": ACROSS, "aria-valuetext": said };
    const about = { "data-drag": key, "aria-label": isQuery ? "The query q" : `The key ${name}` };
    const handle = { class: "plane-handle", tabindex: 0, role: "slider", ...about, ...range };
    const [qx, qy] = this.#vector(-1);
    // Beside the ring, where the key stands in it.
    const reach = Math.hypot(x - qx, y - qy) * unit < RING ? RING + unit * Math.abs(qx - x) : r;
    const isAtEdge = cx + reach + 75 > 2 * left;
    const beside = isAtEdge ? { x: cx - reach - 5, "text-anchor": "end" } : { x: cx + reach + 5 };
    const label = isQuery ? { x: cx - 22, y: cy - 10, "text-anchor": "end" } : { ...beside, y: cy + 5 };
    return [
      ...parts,
      shape("text", `${name} label`, { class: "plane-label", ...label }, isQuery ? name : `${name} ${figure}`),
      shape("circle", `${name} handle`, { ...handle, ...place, r: isQuery ? 24 : Math.max(12, r) }),
    ];
  }
}

/** What the colours mean. */
function legend(start: number, wide: number, y: number): Shape[] {
  const shown = LEVELS.filter((level) => level >= 0.05);
  return shown.flatMap((level, index): Shape[] => {
    const [x, width] = [start + (index * wide) / shown.length, wide / shown.length];
    const swatch = { class: "plane-level", x, y, width, height: 10, "fill-opacity": strength(level) };
    return [
      shape("rect", `legend ${level}`, swatch),
      figure(`legend ${level}`, percent(level), [x + width / 2, y + 25], { class: "plane-name" }),
    ];
  });
}

/**
 * Where numbers at PLACES are at least so large, as a path: marching squares, in steps of the grid, the first number at 0, 0. Cells that
 * belong to it as a whole are joined in rows.
 */
function regionFrom(data: ArrayLike<number>, level: number): string {
  const path: string[] = [];
  for (let row = 0; row + 1 < data.length / COLUMNS; row++) {
    let joined = 0;
    for (let col = 0; col < COLUMNS; col++) {
      // Clockwise from the upper left.
      const corners = [0, 1, 2, 3].map((corner) => {
        const [x, y] = [col + Number(corner % 3 > 0), row + (corner >> 1)];
        return { x, y, over: ((x < COLUMNS ? data[y * COLUMNS + x] : undefined) ?? Number.NaN) - level };
      });
      if (corners.every(({ over }) => over >= 0)) {
        joined += 1;
        continue;
      }
      if (joined > 0) path.push(`M${col - joined} ${row}H${col}V${row + 1}H${col - joined}Z`);
      joined = 0;
      const points = corners.flatMap((from, index) => edge(from, corners[(index + 1) % 4] ?? from));
      if (points.length > 0) path.push(`M${points.join("L")}Z`);
    }
  }
  return path.join("");
}

type Corner = Readonly<Record<"x" | "y" | "over", number>>;

/** The corner that an edge begins with, where that is inside, and where the level crosses it. */
function edge(from: Corner, to: Corner): string[] {
  const points = from.over >= 0 ? [`${from.x} ${from.y}`] : [];
  if (from.over >= 0 === to.over >= 0 || !Number.isFinite(from.over - to.over)) return points;
  const part = from.over / (from.over - to.over);
  const between = (a: number, b: number): string => (a + (b - a) * part).toFixed(3);
  return [...points, `${between(from.x, to.x)} ${between(from.y, to.y)}`];
}

// The walk on the board: matrices as groups of coloured squares, a row and a column that fold into a cell, bars, and rows that are poured.

import { at as cellAt, type Readable, transpose } from "../../src/model/matrix.js";
import { type Draw, during, mix, type Shape, shape, type View } from "../../src/ui/board.js";
import { type MatrixName, type Scene, viewOf } from "../../src/ui/walk-matrices.js";
import { PLACES, tellingSpot } from "./places.js";
import {
  between,
  LAST,
  type Layout,
  layoutOf,
  MOVING,
  ON_BOARD,
  type OnBoard,
  type Pose,
  PRODUCTS,
  sizesOf,
} from "./poses.js";

const tint = (level: number, ink = level < 0 ? "below" : "above"): string =>
  `color-mix(in oklab, var(--${ink}) ${(100 * Math.min(1, Math.abs(level))).toFixed(1)}%, var(--cell))`;

const clamp = (value: number): number => Math.min(1, Math.max(0, value));
const INSET = 0.04;
/** In pixels, as in board.css. */
const LARGEST_FONT = 13;

/** From 0 to 1 and back, with so much of the way at both ends. */
const comesAndGoes = (part: number, coming: number, going = coming): number =>
  during(part, 0, coming) * (1 - during(part, 1 - going, 1));

type Filling = NonNullable<ReturnType<typeof fillingOf>>;

/** One product on the board as it is being filled: `shown` is of the cell that shows how it is done, `swept` then of all others. */
function fillingOf(scene: Scene, at: number, { rest }: Layout) {
  const place = Math.ceil(at);
  const [product, told] = [PRODUCTS[place], PLACES[place]];
  if (product === undefined || told === undefined) return undefined;
  const { row, col } = tellingSpot(scene, told);
  const part = clamp((at - place + 1 - MOVING) / (1 - MOVING));
  const [shown, swept] = [clamp(part / 0.62), clamp((part - 0.62) / 0.38)];
  const [ofLeft, ofTop, name] = product;
  const [left, top, result] = product.map((one) => rest(one, place)) as [Pose, Pose, Pose];
  const [a, b, [rows, cols]] = [viewOf(ofLeft, scene), viewOf(ofTop, scene), sizesOf(scene)[name]];
  const [inner, columnwise] = [a.matrix.cols, ofTop === "K" ? transpose(b.matrix) : b.matrix];
  // Fewer queries than words: the last rows of X.
  const own = row + a.matrix.rows - rows;
  const pairs = Array.from({ length: inner }, (_, index) => {
    const [first, second] = [cellAt(a.matrix, own, index), cellAt(columnwise, index, col)];
    const flown = during(shown, 0.08 + (0.3 * index) / inner, 0.6 + (0.3 * index) / inner);
    return { product: first * second, levels: [first / a.full, second / b.full] as const, flown };
  });
  return { place, name, rows, cols, row, col, shown, swept, left, top, result, own, inner, pairs };
}

/** `still`: what no longer changes inside matrices, kept for the next picture of the scene. */
function drawn(scene: Scene, at: number, width: number, still: Map<string, readonly Shape[]>): View {
  const { walk, state } = scene;
  const longest = Math.max(...walk.labels.map((label) => shortened(label).length));
  const layout = layoutOf(scene, width, Math.min(92, 14 + 6.6 * longest));
  const isTurned = state.by === "columns";
  /** Words before the first one that asks. */
  const first = walk.labels.length - walk.askers.length;
  const filling = fillingOf(scene, at, layout);
  const [shapes, texts]: [Shape[], Shape[]] = [[], []];

  for (const name of ON_BOARD) if (name !== filling?.name) drawMatrix(name);
  if (filling !== undefined) {
    if (filling.place === LAST) pour(filling);
    else fold(filling);
    drawMatrix(filling.name);
    drawBands(filling);
  }
  drawLabels();
  const turn = isTurned ? { transform: "matrix(0 1 1 0 0 0)" } : {};
  return {
    height: layout.height,
    shapes: [group("all", turn, shapes), ...texts],
    said: PLACES[Math.round(at)]?.title ?? "",
  };

  function drawMatrix(name: OnBoard): void {
    const pose = layout.pose(name, at);
    if (pose.seen === 0) return;
    const picked = nameOf(name);
    const { matrix, full } = viewOf(name, scene);
    const isStill = name === "S" ? at >= 7 : name !== filling?.name;
    const inside = (isStill ? still.get(name + picked) : undefined) ?? [
      rect(`${name} ground`, [0, 0, matrix.cols, matrix.rows], { class: "ground" }),
      ...(name === "S" ? scoresIn(picked, matrix, full) : numbersIn(name, picked, matrix, full)),
    ];
    if (isStill) still.set(name + picked, inside);
    // A card that is turned over its diagonal.
    const { u, v, size, turn, seen } = pose;
    const [along, across] = [(1 + Math.cos(Math.PI * turn)) / 2, (1 - Math.cos(Math.PI * turn)) / 2];
    const [a, b] = [size * along, size * across];
    const transform = `matrix(${a} ${b} ${b} ${a} ${u} ${v})`;
    shapes.push(group(name, { transform, opacity: seen }, inside));
    const [rows, cols] = [mix(matrix.rows, matrix.cols, turn), mix(matrix.cols, matrix.rows, turn)];
    drawTitle(name, viewOf(picked, scene).title, pose, [cols * size, rows * size]);
  }

  /** What a press on it shows: K turned is another matrix, and so is S after every step. */
  function nameOf(name: OnBoard): MatrixName {
    const place = Math.round(at);
    if (name === "K" && place >= 4) return "Kt";
    return name === "S" ? ((["Z", "M", "A", "A"] as const)[place - 5] ?? "S") : name;
  }

  function numbersIn(name: OnBoard, picked: MatrixName, matrix: Readable, full: number): Shape[] {
    return cells(matrix, (row, col) => {
      const pick = picked === "Kt" ? `Kt.${col}.${row}` : `${picked}.${row}.${col}`;
      const { value, opacity } = numberAt(name, row, col, matrix);
      return cell(name, row, col, { fill: tint(value / full), opacity, "data-pick": pick });
    });
  }

  /** Scores, which are scaled, masked and become bars where they stand. */
  function scoresIn(picked: MatrixName, scores: Readable, full: number): Shape[] {
    const { head } = scene;
    const weights = viewOf("A", scene).matrix;
    return Array.from({ length: scores.rows }, (_, row) => {
      const [scaled, masked, soft] = [5, 6, 7].map((place) => partOf(row, place)) as [number, number, number];
      const most = Math.max(...Array.from({ length: scores.cols }, (_, col) => cellAt(head.masked, row, col)));
      return cells({ ...scores, rows: 1 }, (_, col) => {
        const hidden = walk.hiddenBy(row, col) !== undefined;
        const { value: score, opacity } = numberAt("S", row, col, scores);
        const value = mix(score, cellAt(head.scaled, row, col), scaled) * (hidden ? 1 - masked : 1);
        const weight = cellAt(weights, row, col);
        const fill =
          soft < 0.5 ? tint((value / full) * (1 - 2 * soft)) : tint(weight * 0.5 * during(soft, 0.5, 1), "share");
        const own = [cell("S", row, col, { fill, opacity, "data-pick": `${picked}.${row}.${col}` })];
        const power = hidden ? 0 : Math.exp(cellAt(head.masked, row, col) - most);
        const height = 0.9 * mix(power * during(soft, 0.1, 0.5), weight, during(soft, 0.6, 1));
        if (height > 0) {
          own.push(rect(`bar ${row} ${col}`, [col + 0.14, row + 0.95 - height, 0.72, height], { class: "bar" }));
        }
        if (hidden && masked > 0) {
          const d = `M${col + 0.1} ${row + 0.5}l.4 -.4M${col + 0.1} ${row + 0.9}l.8 -.8M${col + 0.5} ${row + 0.9}l.4 -.4`;
          own.push(shape("path", `hatch ${row} ${col}`, { d, class: "hatch", opacity: masked }));
        }
        return own;
      }).flat();
    }).flat();
  }

  /** How far a row is on its way to a place: all together, or one after the other. */
  function partOf(row: number, place: number): number {
    const part = clamp(at - place + 1);
    const rows = walk.askers.length;
    return state.loop ? clamp((part * (rows + 2) - row) / 3) : part;
  }

  /** A cell's number, and how far it is there: of the one that shows how it is done, what has been added up by now. */
  function numberAt(name: OnBoard, row: number, col: number, matrix: Readable) {
    const value = cellAt(matrix, row, col);
    if (filling?.name !== name) return { value, opacity: 1 };
    const { place, shown, swept, rows, cols, pairs } = filling;
    if (row === filling.row && place === LAST) return { value, opacity: during(shown, 0.86, 1) };
    if (row === filling.row && col === filling.col) {
      const added = pairs.reduce((sum, { product, flown }) => sum + product * during(flown, 0.8, 1), 0);
      return { value: added, opacity: during(shown, 0.4, 0.55) };
    }
    const { loop } = state;
    return { value, opacity: clamp(loop ? swept * (rows + 1) - row - col / cols : swept * (cols + 1) - col) };
  }

  /** The row and the column that are lit: of the cell that is shown first, then of all others. */
  function drawBands({ place, shown, swept, rows, cols, row, col, left, top, result, own, inner }: Filling): void {
    /** `box`: in cells. */
    const band = (key: string, { u, v, size }: Pose, box: Box, opacity: number): void => {
      const [x, y, wide, high] = box.map((part) => part * size) as [number, number, number, number];
      if (opacity > 0) shapes.push(rect(key, [u + x, v + y, wide, high], { class: "band", opacity }));
    };
    const [lit, moves] = [comesAndGoes(shown, 0.1), comesAndGoes(swept, 0.06)];
    band("lit row", left, [0, own, inner, 1], lit);
    if (place !== LAST) band("lit column", top, [col, 0, 1, inner], lit);
    const [down, along] = [(rows - 1) * swept, (cols - 1) * swept];
    const { loop } = state;
    if (loop) band("swept row", left, [0, own - row + down, inner, 1], moves);
    else band("swept column", top, [along, 0, 1, inner], moves);
    band("swept result", result, loop ? [0, down, cols, 1] : [along, 0, 1, rows], moves);
  }

  /** Pairs of factors fly to their cell, one after the other, and are added there. */
  function fold({ pairs, row, col, left, top, result, own }: Filling): void {
    const { size } = left;
    pairs.forEach(({ levels, flown }, index) => {
      if (flown === 0 || flown === 1) return;
      const [small, opacity] = [mix(1, 0.5, flown) * size, comesAndGoes(flown, 0.08, 0.1)];
      const fly = (key: string, u: number, v: number, level: number): void => {
        const [x, y] = [mix(u, result.u + col * size, flown), mix(v, result.v + row * size, flown)];
        const place = [x + (size - small) / 2, y + (size - small) / 2, small, small] as const;
        shapes.push(rect(`${key} ${index}`, place, { class: "flies", fill: tint(level), opacity }));
      };
      fly("row", left.u + index * size, left.v + own * size, levels[0]);
      fly("column", top.u + col * size, top.v + index * size, levels[1]);
    });
  }

  /** Rows of V become as thick as their weights, and are laid on one another: together as thick as one row. */
  function pour({ shown, row, left, top, result }: Filling): void {
    if (shown === 0 || shown === 1) return;
    const { matrix: weights } = viewOf("A", scene);
    const { matrix: values, full } = viewOf("V", scene);
    const { size } = left;
    let below = 0;
    for (let key = 0; key < values.rows; key++) {
      const weight = cellAt(weights, row, key);
      const late = (0.25 * key) / values.rows;
      const [thin, falls] = [during(shown, 0.06 + late, 0.36 + late), during(shown, 0.38 + late, 0.68 + late)];
      const high = mix(1, weight, thin) * size;
      const from = top.v + key * size + (size - high) / 2;
      const v = mix(from, result.v + (row + below) * size, falls);
      below += weight;
      if (weight < 0.002 || thin === 0) continue;
      const transform = `matrix(${size} 0 0 ${high} ${top.u} ${v})`;
      const inside = Array.from({ length: values.cols }, (_, col) =>
        rect(`layer ${key} ${col}`, [col, 0, 1, 1], { fill: tint(cellAt(values, key, col) / full) }),
      );
      const opacity = (1 - during(shown, 0.92, 1)) * during(thin, 0, 0.1);
      shapes.push(group(`layer ${key}`, { transform, opacity, class: "flies" }, inside));
      // The bar comes to its row of V.
      const bar = [
        mix(left.u + (key + 0.14) * size, top.u - 8, thin),
        mix(left.v + (row + 0.95 - weight) * size, from, thin),
        mix(0.72 * size, 5, thin),
        weight * size,
      ] as const;
      shapes.push(rect(`carries ${key}`, bar, { class: "bar", opacity: during(thin, 0, 0.1) * (1 - falls) }));
    }
  }

  function drawTitle(name: OnBoard, title: string, pose: Pose, [wide, high]: readonly [number, number]): void {
    const { u, v, seen, beside } = pose;
    const [text = "", below] = title.split("_");
    const [right, down] = [10 + 4 * text.length, 14];
    const [far, near] = isTurned ? [down, right] : [right, down];
    const place = [mix(u + wide / 2, u + wide + far, beside), mix(v + high + near, v + high / 2, beside)];
    const [x = 0, y = 0] = isTurned ? place.reverse() : place;
    const look = { x, y: y + 4, "text-anchor": "middle", class: "title", opacity: seen };
    texts.push(shape("text", `title ${name}`, look, text));
    const sub = { x: x + 7, y: y + 9, class: "sub", opacity: seen };
    if (below !== undefined) texts.push(shape("text", `sub ${name}`, sub, below));
  }

  /** Words stand beside the rows of one matrix after the other, and above columns of keys. */
  function drawLabels(): void {
    const { labels, featureNames } = walk;
    const { rest } = layout;
    axis("word", labels, (where) => {
      const pose = rest(where < 4 ? "X" : where === 4 ? "Q" : "S", where);
      return where < 4 ? pose : { ...pose, v: pose.v - first * pose.size };
    });
    axis("key", labels, (where) => (where <= 4 ? { ...rest("K", 4), seen: where < 4 ? 0 : 1 } : rest("S", where)));
    axis("feature", featureNames, (where) => ({ ...rest("X", where), seen: where === 0 ? 1 : 0 }));
    for (const name of ["Wq", "Wk", "Wv"] as const)
      axis(name, viewOf(name, scene).colLabels, (where) => rest(name, where));
  }

  function axis(key: string, names: readonly string[], host: (where: number) => Pose): void {
    const place = Math.min(LAST - 1, Math.floor(at));
    const [isRow, hosts] = [key === "word", [host(place), host(place + 1)]];
    names.forEach((label, index) => {
      const [from, to] = hosts.map((pose, late) => {
        const along = (index + 0.5) * pose.size;
        const asks = !isRow || place + late < 4 || index >= first;
        return { ...pose, ...(isRow ? { v: pose.v + along } : { u: pose.u + along }), ...(asks ? {} : { seen: 0 }) };
      }) as [Pose, Pose];
      drawLabel(`${key} ${index}`, label, between(from, to, at - place), isRow);
    });
  }

  /** Beside a row, or above a column; where words are columns it is the other way round. */
  function drawLabel(key: string, label: string, { u, v, size, seen }: Pose, isRow: boolean): void {
    if (seen === 0) return;
    const lies = isRow !== isTurned;
    const [x, y] = isTurned ? [v, u] : [u, v];
    const font = Math.max(7, Math.min(LARGEST_FONT, 0.74 * size));
    const place = lies ? [x - 6, y + 0.34 * font, 0] : [x + 0.34 * font, y - 6, -90];
    const look = {
      transform: `translate(${place[0]} ${place[1]}) rotate(${place[2]}) scale(${font / LARGEST_FONT})`,
      "text-anchor": lies ? "end" : "start",
      opacity: seen,
      class: walk.unknown.includes(label) ? "noted" : undefined,
    };
    texts.push(shape("text", key, look, shortened(label)));
  }
}

export function drawWalk(scene: Scene): Draw {
  const still = new Map<string, readonly Shape[]>();
  const nothing = { height: 80, shapes: [], said: "No words yet." };
  return (at, width) => (scene.walk.labels.length === 0 ? nothing : drawn(scene, at, width, still));
}

function cells<T>({ rows, cols }: Pick<Readable, "rows" | "cols">, one: (row: number, col: number) => T): T[] {
  return Array.from({ length: rows * cols }, (_, index) => one(Math.floor(index / cols), index % cols));
}

function cell(name: OnBoard, row: number, col: number, look: Shape["attributes"]): Shape {
  return rect(`${name} ${row} ${col}`, [col + INSET, row + INSET, 1 - 2 * INSET, 1 - 2 * INSET], { rx: 0.12, ...look });
}

type Box = readonly [x: number, y: number, width: number, height: number];

function rect(key: string, [x, y, width, height]: Box, look: Shape["attributes"]): Shape {
  return shape("rect", key, { x, y, width, height, ...look });
}

function group(key: string, look: Shape["attributes"], inside: readonly Shape[]): Shape {
  return { ...shape("g", key, look), inside };
}

function shortened(label: string): string {
  const letters = Array.from(label);
  return letters.length > 12 ? `${letters.slice(0, 11).join("")}…` : label;
}

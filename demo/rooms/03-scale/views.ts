// The room's rows and slopes as matrices, its averages as curves. Pure; the room draws them.

import { fill, type Matrix } from "../../src/model/matrix.js";
import type { ChartView, Series } from "../../src/ui/heed-chart.js";
import { numbered, signed, type View, weighed } from "../../src/ui/named-matrices.js";
import type { RowName } from "./explain.js";
import { jacobian, type Point, type ScaleScene } from "./scene.js";

/** Scores beyond this have the full colour: no row looks calmer because another one is wild. */
const LOUD = 12;
/** A weight of one half has the steepest slope. */
const STEEPEST = 0.25;

export function viewsOf({ raw, scaled, soft }: ScaleScene, kernel?: ArrayLike<number>): Record<RowName, View> {
  const named = (letter: string) => numbered(letter, raw.length);
  const line = (numbers: ArrayLike<number>): Matrix => fill(1, raw.length, (_, col) => numbers[col] ?? Number.NaN);
  const slopes = fill(raw.length, raw.length, (i, j) => jacobian(soft.weights, i, j));
  return {
    S: { ...signed("q · k", "scores of one query", line(raw), ["q · k"], named("k")), full: LOUD },
    Z: { ...signed("scaled", "what the softmax is given", line(scaled), ["scaled"], named("k")), full: LOUD },
    A: weighed("weight", "after the softmax", line(kernel ?? soft.weights), ["weight"], named("k")),
    J: { ...signed("J", "row: weight, column: score", slopes, named("a"), named("z")), full: STEEPEST },
  };
}

/** Scores between two neighbouring values of the axis fall into one bin, and those beyond it into the last. */
const BIN = 2;
const BINS: readonly number[] = Array.from({ length: 41 }, (_, index) => BIN * (index - 20));
export const MIDDLE_BIN = (BINS.length - 1) / 2;

/** What the softmax is given, over all draws and keys. */
export function histogramView({ given }: ScaleScene, cursor: number): ChartView {
  const scores = given.flat();
  const binOf = (score: number): number => Math.max(0, Math.min(BINS.length - 1, Math.round(score / BIN) + MIDDLE_BIN));
  const counts = BINS.map(() => 0);
  for (const score of scores) counts[binOf(score)] = (counts[binOf(score)] ?? 0) + 1;
  return {
    label: "How many of all scores fall where",
    x: { name: "score, as the softmax is given it", values: BINS, log: false, ticks: [-40, -20, 0, 20, 40] },
    y: { name: "fraction of all scores", most: 0.75 },
    series: [
      { name: "these scores", values: counts.map((count) => count / scores.length), tone: "share" },
      { name: "spread 1, as with √d", values: NORMAL, tone: "soft", dashed: true },
    ],
    cursor,
  };
}

/** A normal distribution of standard deviation 1 in the bins: 68 % within 1 of the mean, nearly all the rest in the two bins beside. */
const NORMAL = BINS.map((bin) => [0.6827, 0.1573, 0.0013][Math.abs(bin) / BIN] ?? 0);

/** How far the best score is pushed: on a hill, a ball rolls where the curve is steep. */
const PUSHES: readonly number[] = Array.from({ length: 33 }, (_, index) => index - 16);

export function ballView({ soft }: ScaleScene, cursor = PUSHES.indexOf(0)): ChartView {
  const best = Math.max(...soft.weights);
  const moved = (push: number): number => 1 / (1 + ((1 - best) / best) * Math.exp(-push));
  return {
    label: "The largest weight, if its score moved",
    x: { name: "its score, moved by", values: PUSHES, log: false, ticks: [-16, -8, 0, 8, 16] },
    y: { name: "the largest weight", most: 1.05 },
    series: [{ name: "weight", values: PUSHES.map(moved), tone: "share" }],
    cursor,
  };
}

export function spreadView(scene: ScaleScene): ChartView {
  const { state, xs, curves } = scene;
  const isWidth = state.axis === "d";
  const free = xs.map((x) => (isWidth ? Math.sqrt(x) / state.temperature : Math.sqrt(state.width) / x));
  const most = Math.max(...curves.none.map(({ spread }) => spread), ...free);
  const least = Math.min(...curves.root.map(({ spread }) => spread), 0.1);
  const y = { name: "standard deviation of the scores", least, most: most * 1.2, log: true };
  const law = { name: isWidth ? "√d / T" : "√d / T, at this d", values: free };
  return curveView(scene, "Standard deviation of the scores that the softmax is given", y, "spread", law);
}

export function entropyView(scene: ScaleScene): ChartView {
  const full = Math.log(scene.state.keys);
  const y = { name: "entropy of the weights, nats", most: full * 1.04 };
  const law = { name: "ln n: all equal", values: scene.xs.map(() => full) };
  return curveView(scene, "Mean entropy of the weights", y, "entropy", law);
}

export function slopeView(scene: ScaleScene): ChartView {
  const steepest = Math.max(...[...scene.curves.none, ...scene.curves.root].map(({ slope }) => slope));
  const y = { name: "size of the Jacobian, ‖J‖", most: steepest * 1.08 };
  return curveView(scene, "Mean size of the softmax's Jacobian", y, "slope");
}

type Law = Pick<Series, "name" | "values">;

function curveView(scene: ScaleScene, label: string, y: ChartView["y"], of: keyof Point, law?: Law): ChartView {
  const { state, xs, cursor, curves } = scene;
  const name = state.axis === "d" ? "width d" : "temperature T";
  const series: readonly Series[] = [
    { name: "not divided", values: curves.none.map((point) => point[of]), tone: "key" },
    { name: "divided by √d", values: curves.root.map((point) => point[of]), tone: "query" },
    ...(law === undefined ? [] : [{ ...law, tone: "soft", dashed: true } as const]),
  ];
  return { label: `${label}, against the ${name}`, x: { name, values: xs, log: true }, y, series, cursor };
}

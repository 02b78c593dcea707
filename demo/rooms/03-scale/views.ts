// The room's rows as matrices, its scores as a histogram, and the softmax as a hill. Pure; the room draws them.

import { fill, type Matrix } from "../../src/model/matrix.js";
import type { ChartView } from "../../src/ui/heed-chart.js";
import { numbered, signed, type View, weighed } from "../../src/ui/named-matrices.js";
import type { RowName } from "./explain.js";
import type { ScaleScene } from "./scene.js";

/** Scores beyond this have the full colour: no row looks calmer because another one is wild. */
const LOUD = 12;

export function viewsOf({ raw, scaled, soft }: ScaleScene, kernel?: ArrayLike<number>): Record<RowName, View> {
  const keys = numbered("k", raw.length);
  const line = (numbers: ArrayLike<number>): Matrix => fill(1, raw.length, (_, col) => numbers[col] ?? Number.NaN);
  return {
    S: { ...signed("q · k", "scores of one query", line(raw), ["q · k"], keys), full: LOUD },
    Z: { ...signed("scaled", "what the softmax is given", line(scaled), ["scaled"], keys), full: LOUD },
    A: weighed("weight", "after the softmax", line(kernel ?? soft.weights), ["weight"], keys),
  };
}

/** Scores between two neighbouring values of the axis fall into one bin, and those beyond it into the last. */
const BIN = 2;
const BINS: readonly number[] = Array.from({ length: 41 }, (_, index) => BIN * (index - 20));

/** What the softmax is given, over all draws and keys. */
export function histogramView({ given }: ScaleScene, cursor = BINS.indexOf(0)): ChartView {
  const scores = given.flat();
  const counts = BINS.map(() => 0);
  for (const score of scores) {
    const bin = Math.max(0, Math.min(BINS.length - 1, Math.round(score / BIN) + BINS.indexOf(0)));
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
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

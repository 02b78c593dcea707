// Queries that are looked at together: their weights in this head, added up, and what reaches them through all layers.

import type { Heed } from "heed";
import { nameOf } from "../../src/brought/arrays.js";
import type { Engine } from "../../src/engine/engine.js";
import { strongestOf } from "../../src/model/strongest.js";
import { LongWork } from "../../src/ui/controls.js";
import { button, h, heads, line, tableFrame } from "../../src/ui/dom.js";
import { HeedChart, type Series } from "../../src/ui/heed-chart.js";
import { exact, magnitude, whole } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import { rowsOf } from "./rows.js";
import { askedOf, type BringScene, rowAt } from "./scene.js";
import { type BringStore, MOST_CHOSEN } from "./state.js";

const STRONGEST = 10;
/** On the line and in the table. */
const DECIMALS = 5;
/** Points of the line; keys beyond that are added up, a few together. */
const POINTS = 128;

/** Rows that matter less than this to the result are left out; how much that was is told. */
const NEGLIGIBLE = 1e-7;
const ROWS = 64;

/** `tell`: of a key, what its sum is made of; `shown`: when what was brought last is in all pictures. */
export function tokensPicture(
  store: BringStore,
  engine: Engine,
  first: BringScene,
  tell: (key: number) => void,
  shown: () => Promise<unknown>,
) {
  let scene = first;
  let sum = new Float64Array(0);
  let rolled: Float64Array | undefined;
  let [key, rollKey] = ["", ""];
  /** From the first key of each point of the line to the one after its last. */
  let points: readonly (readonly [from: number, to: number])[] = [];
  const choose = (next: (chosen: readonly number[]) => readonly number[]): void =>
    store.change({ chosen: next(store.state.chosen) });

  const add = button("", () => choose((chosen) => [...chosen, scene.row].sort((a, b) => a - b)));
  const chips = h("div", { class: "chips", role: "group", "aria-label": "Queries that are added up" });
  const chart = new HeedChart();
  chart.choose = (point) => {
    const [from, to] = points[point] ?? [0, 0];
    const col = from + (strongestOf(sum.subarray(from, to), 1)[0] ?? 0);
    store.change({ col });
    tell(col);
  };
  const roll = new LongWork({
    name: "Through all layers",
    run: async (signal, said) => {
      await shown();
      signal.throwIfAborted();
      const { weights, lost } = await rollout(scene, engine.heed, signal, said);
      rolled = weights;
      draw();
      const left = lost === 0 ? "" : ` Rows that matter less were left out: ${magnitude(lost)} in all.`;
      return `Each layer passes on half by the mean of its heads, half as it was.${left}`;
    },
  });
  const rows = h("tbody");
  const caption = "The keys with the most";
  const head = [h("caption", {}, caption), heads("", "in this head", "through all layers")];
  const table = tableFrame(caption, h("table", { class: "plain-table" }, ...head, rows));
  const { element, say } = picture({
    name: "tokens",
    title: "Several queries together",
    body: [h("div", { class: "controls-hide" }, add, chips), chart, roll.line(), table],
    data: () => ({ state: store.state, queries: askedOf(scene), sum: [...sum], rollout: [...(rolled ?? [])] }),
  });

  const draw = (): void => {
    const { source, col } = scene;
    const { keys } = source;
    const count = Math.min(POINTS, keys);
    const edge = (point: number): number => Math.floor((point * keys) / count);
    points = Array.from({ length: count }, (_, point) => [edge(point), edge(point + 1)]);
    const seriesOf = (name: string, tone: Series["tone"], weights: Float64Array): Series => {
      const values = points.map(([from, to]) => weights.subarray(from, to).reduce((all, weight) => all + weight, 0));
      return { name, values, tone };
    };
    const series = [seriesOf("in this head", "share", sum)];
    if (rolled !== undefined) series.push(seriesOf("through all layers", "value", rolled));
    chart.show({
      label: "Sum of attention weights over the keys",
      x: {
        name: "key",
        values: points.map(([from]) => from + 1),
        log: false,
        ticks: [0, 0.25, 0.5, 0.75, 1].map((part) => Math.max(1, Math.round(part * keys))),
        nameOf: (point) => {
          const [from, to] = points[point] ?? [0, 0];
          return to - from === 1 ? `key ${to}` : `keys ${whole(from + 1)} to ${whole(to)}, added up`;
        },
      },
      y: { name: "weight", most: Math.max(1e-9, ...series.flatMap(({ values }) => values)), decimals: DECIMALS },
      series,
      cursor: Math.floor((col * points.length) / keys),
    });
    const lineOf = (one: number): HTMLElement => {
      const figures = [sum, rolled].map((weights) => (weights ? exact(weights[one] ?? 0, DECIMALS) : ""));
      return line(nameOf(source, "k", one), figures);
    };
    rows.replaceChildren(...strongestOf(rolled ?? sum, STRONGEST).map(lineOf));
    const [one = 0, ...others] = askedOf(scene);
    const whose = others.length === 0 ? nameOf(source, "q", one, "Query ") : `${others.length + 1} queries`;
    const several = keys > points.length ? ` Each point adds up about ${Math.round(keys / points.length)} keys.` : "";
    say(`${whose}: where the attention goes.${several} Choose a place on the curve to look at its largest key.`);
  };
  const chipOf = (query: number, name: string): HTMLElement => {
    const chip = button(`${name} ×`, () => choose((chosen) => chosen.filter((one) => one !== query)), "chip plain");
    return Object.assign(chip, { ariaLabel: `Leave out query ${name}` });
  };
  return {
    element,
    show: (next: BringScene): void => {
      scene = next;
      const { source, state, row, at } = next;
      add.textContent = `Add ${nameOf(source, "q", row, "query ")}`;
      add.disabled = state.chosen.includes(row) || state.chosen.length >= MOST_CHOSEN;
      roll.button.hidden = source.layers === 1 || source.queries !== source.keys;
      // The head in view does not matter to what comes through all layers.
      const before = [key, rollKey];
      rollKey = [source.name, state.seed, state.brought, at.causal, ...askedOf(next)].join();
      key = [at.layer, at.head, rollKey].join();
      if (key !== before[0]) sum = sumOf(next);
      if (rollKey !== before[1]) {
        rolled = undefined;
        roll.renew();
      }
      chips.replaceChildren(...state.chosen.map((query) => chipOf(query, nameOf(source, "q", query, ""))));
      draw();
    },
  };
}

function sumOf(scene: BringScene): Float64Array<ArrayBuffer> {
  const rows = askedOf(scene).map((query) => rowAt(scene, query).weights);
  return new Float64Array(scene.source.keys).map((_, key) => rows.reduce((sum, row) => sum + (row[key] ?? 0), 0));
}

/**
 * What reaches a token through all layers: rollout, by Abnar and Zuidema (2020), of some rows alone, so that no matrix of all pairs is ever made.
 * Each layer passes on half of its input by the mean of its heads, and half as it was, for the connections around attention.
 * `tell`: how much of it is done. Resolves with the weights of each token of the first layer, and what was left out of them.
 */
async function rollout(scene: BringScene, heed: Heed | undefined, signal: AbortSignal, tell: (text: string) => void) {
  const { source, at } = scene;
  const { layers, heads, keys } = source;
  let reached = new Float64Array(keys);
  for (const query of askedOf(scene)) reached[query] = (reached[query] ?? 0) + 1;
  let lost = 0;
  for (let layer = layers - 1; layer >= 0; layer--) {
    const next = reached.map((weight) => weight / 2);
    for (let head = 0; head < heads; head++) {
      const rows = rowsOf(source, { ...at, layer, head }, heed);
      try {
        for (let from = 0; from < keys; from += ROWS) {
          const asked = reached.subarray(from, from + ROWS);
          const sum = asked.reduce((total, weight) => total + weight, 0);
          if (sum <= NEGLIGIBLE) {
            lost += sum / 2 / heads;
            continue;
          }
          const done = (layers - 1 - layer) * heads + head + from / keys;
          tell(`${Math.floor((100 * done) / (layers * heads))} %`);
          const weights = await rows.read(from, Math.min(keys, from + ROWS), signal);
          signal.throwIfAborted();
          for (const [row, weight] of asked.entries()) {
            if (weight === 0) continue;
            const factor = weight / 2 / heads;
            for (let key = 0; key < keys; key++)
              next[key] = (next[key] ?? 0) + factor * (weights[row * keys + key] ?? 0);
          }
        }
      } finally {
        rows.dispose();
      }
    }
    reached = next;
  }
  return { weights: reached, lost };
}

// Gradients of random graphs of a pass's operations against central differences of their definitions in double precision, and the same bits
// with any number of threads and on any memory.

import { afterAll, expect, test } from "vitest";
import type { Heed } from "../../web/src/index.js";
import { Linear } from "../../web/src/layers/index.js";
import { gradients } from "../../web/src/train/index.js";
import { PATIENCE, tried } from "../support/drawn.js";
import { openKind } from "../support/engines.js";
import { type Graph, randomGraph } from "../support/random-graphs.js";

const kinds = [
  ...[1, 2, 3].map((threads) => ({ worker: "shared-memory", threads }) as const),
  { worker: "private-memory", threads: 2 } as const,
  { worker: null, threads: 1 } as const,
];
const ofVariants = await Promise.all(
  (["relaxed", "simd"] as const).map((variant) =>
    Promise.all(kinds.map(({ worker, threads }) => openKind({ variant, worker }, { threads }))),
  ),
);
afterAll(() => {
  for (const engine of ofVariants.flat()) engine.dispose();
});

/** The loss of a graph and its gradients in all inputs. */
async function run(engine: Heed, graph: Graph) {
  const model = new Linear({ inFeatures: 1, outFeatures: 1, engine }).init();
  return gradients(model, async (pass) => {
    const inputs = [];
    for (const input of graph.inputs) inputs.push(await pass.input(input));
    return { loss: await graph.loss(pass, inputs) };
  });
}

/** Central differences by a formula of fourth order, of one step and of half of it. They differ where the function has a kink. */
function slopesOf({ value, inputs }: Graph, at: number, place: number): readonly [number, number] {
  const given = inputs.map(({ data }) => Float64Array.from(data));
  const own = given[at] ?? new Float64Array();
  const middle = own[place] ?? 0;
  const shifted = (by: number): number => {
    own[place] = middle + by;
    return value(given);
  };
  const slope = (h: number): number => (8 * (shifted(h) - shifted(-h)) - (shifted(2 * h) - shifted(-2 * h))) / (12 * h);
  return [slope(1e-4), slope(5e-5)];
}

test(
  "gradients of graphs are those of the definitions, with the same bits on every engine of a variant",
  async () => {
    let [all, kinks] = [0, 0];
    await tried("pass", 40, async (random) => {
      const graph = randomGraph(random, random.whole(2, 12));
      const about = graph.names.join(", ");
      const wanted = graph.value(graph.inputs.map(({ data }) => Float64Array.from(data)));
      const slopes = graph.inputs.map(({ data }, at) => Array.from(data, (_, place) => slopesOf(graph, at, place)));
      // Each operation keeps numbers and slopes of the order of 1, so roundings are relative to the largest of a graph; 12 operations with sums
      // of up to some hundred terms have room in 2^10 of them.
      const most = Math.max(1, Math.abs(wanted), ...slopes.flat().map(([slope]) => Math.abs(slope)));
      const bound = 2 ** -14 * most;
      for (const [first, ...others] of ofVariants) {
        if (first === undefined) throw new Error("every variant has engines");
        const made = await run(first, graph);
        const { loss, inputGradients } = made;
        expect(Math.abs(loss - wanted), `${about}: loss`).toBeLessThan(bound);
        for (const [at, of] of slopes.entries()) {
          for (const [place, [slope, again]] of of.entries()) {
            all += 1;
            if (Math.abs(slope - again) > 1e-7 * most) {
              kinks += 1;
              continue;
            }
            const got = inputGradients[at]?.data[place] ?? Number.NaN;
            expect(Math.abs(got - slope), `${about}: input ${at} at ${place}, ${got} for ${slope}`).toBeLessThan(bound);
          }
        }
        for (const [at, engine] of others.entries()) {
          expect(await run(engine, graph), `${about}, ${JSON.stringify(kinds[at + 1])}`).toEqual(made);
        }
      }
    });
    expect(kinks / all).toBeLessThan(0.05);
  },
  PATIENCE,
);

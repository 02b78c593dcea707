// One number of the room taken apart: a score, a scaled score, a weight, or a slope.

import { along } from "../../src/model/matrix.js";
import { type Explanation, lit, products, softened } from "../../src/ui/explanation.js";
import { type NamedSpot, numbered } from "../../src/ui/named-matrices.js";
import { exact, small, timesTold } from "../../src/ui/numbers.js";
import { jacobian, type ScaleScene } from "./scene.js";

export const ROWS = ["S", "Z", "A", "J"] as const;
export type RowName = (typeof ROWS)[number];

type Place = Omit<NamedSpot<RowName>, "name">;

/** `kernel`: its weights of the row. */
export function explain(scene: ScaleScene, spot: NamedSpot<RowName>, kernel?: ArrayLike<number>): Explanation {
  const told = TOLD[spot.name](scene, spot, kernel);
  return { ...told, lights: [...told.lights, spot] };
}

type Tell = (scene: ScaleScene, place: Place, kernel?: ArrayLike<number>) => Explanation;

const TOLD: Readonly<Record<RowName, Tell>> = {
  S: ({ q, k, raw, state }, { col: key }) => ({
    subject: `q · k${key + 1}`,
    sentence: `The sum of ${state.width === 1 ? "one product" : `${state.width} products`}, component by component.`,
    ...products(numbered("", state.width), along(q, 0), along(k, key), ["", "q", `k${key + 1}`]),
    result: raw[key] ?? Number.NaN,
    lights: [],
  }),
  Z: ({ raw, scaled, factor, state }, { col: key }) => {
    const [from, result] = [raw[key] ?? Number.NaN, scaled[key] ?? Number.NaN];
    const by = state.scaling === "root" ? `√${state.width} = ${exact(Math.sqrt(state.width))}` : "nothing";
    return {
      subject: `z${key + 1}`,
      sentence: `The score divided by ${by}, and by the temperature ${state.temperature}.`,
      last: timesTold([from, factor], result),
      result,
      lights: [lit("S", 0, key)],
    };
  },
  A: ({ scaled }, { col }, kernel) => {
    const names = numbered("k", scaled.length);
    const [subject, light] = [`weight of ${names[col]}`, lit("Z", 0)];
    return softened(scaled, names, { subject, at: col, kernel: kernel?.[col], light });
  },
  J: ({ soft }, { row: i, col: j }) => {
    const [a, b] = [soft.weights[i] ?? Number.NaN, soft.weights[j] ?? Number.NaN];
    const result = jacobian(soft.weights, i, j);
    return {
      subject: `∂a${i + 1} / ∂z${j + 1}`,
      sentence:
        i === j
          ? "A weight moves with its own score by a (1 − a): most at one half, not at all at 0 and 1."
          : "A weight gives way to another key’s score by the product of both weights.",
      last: `${i === j ? `${small(a)} × (1 − ${small(a)})` : `−${small(a)} × ${small(b)}`} = ${small(result)}`,
      result,
      lights: [lit("A", 0, i)],
    };
  },
};

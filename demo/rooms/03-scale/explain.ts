// One number of the room taken apart: a score, a scaled score, or a weight.

import { along } from "../../src/model/matrix.js";
import { type Explanation, lit, products, softened } from "../../src/ui/explanation.js";
import { type NamedSpot, numbered } from "../../src/ui/named-matrices.js";
import { exact, timesTold } from "../../src/ui/numbers.js";
import type { ScaleScene } from "./scene.js";

export const ROWS = ["S", "Z", "A"] as const;
export type RowName = (typeof ROWS)[number];

/** `kernel`: its weights of the row. */
export function explain(scene: ScaleScene, spot: NamedSpot<RowName>, kernel?: ArrayLike<number>): Explanation {
  const { q, k, raw, scaled, factor, state } = scene;
  const { name, col } = spot;
  const [from, result] = [raw[col] ?? Number.NaN, scaled[col] ?? Number.NaN];
  const names = numbered("k", scaled.length);
  if (name === "S") {
    return {
      subject: `q · ${names[col]}`,
      sentence: `The sum of ${state.width === 1 ? "one product" : `${state.width} products`}, component by component.`,
      ...products(numbered("", state.width), along(q, 0), along(k, col), ["", "q", names[col] ?? ""]),
      result: from,
      lights: [spot],
    };
  }
  if (name === "Z") {
    const by = state.scaling === "root" ? `√${state.width} = ${exact(Math.sqrt(state.width))}` : "nothing";
    return {
      subject: `z${col + 1}`,
      sentence: `The score divided by ${by}, and by the temperature ${state.temperature}.`,
      last: timesTold([from, factor], result),
      result,
      lights: [lit("S", 0, col), spot],
    };
  }
  const told = softened(scaled, names, { subject: `weight of ${names[col]}`, at: col, kernel: kernel?.[col] });
  return { ...told, lights: [lit("Z", 0), spot] };
}

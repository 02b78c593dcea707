// From scores to weights: `s` and `seen`, of the keys from `j` on, to `w`, and to what `sums` has of the row.

import type { ScoreFeatures } from "../kernel.js";
import { each, when } from "./common.js";

export interface Weighing extends Pick<ScoreFeatures, "normalizer" | "dropout"> {
  readonly entropy: boolean;
  readonly step: number;
}

/** `shrinking`: what brings a row's output to another maximum, by the factor `shrink`. */
export function weighStep(kernel: Weighing, shrinking: string): string {
  return kernel.normalizer === "softmax" ? softmaxStep(kernel, shrinking) : plainStep(kernel);
}

/** NaN is greater than nothing, so that it never becomes the maximum: it makes its row's sum NaN, and so the row's results. */
function softmaxStep({ step, entropy, dropout }: Weighing, shrinking: string): string {
  return `var most = sums.most;
      ${each("c", step, "most = select(most, s[c], s[c] > most);")}
      if (most > sums.most) {
        let shrink = select(exp(sums.most - most), 0.0, sums.most <= NONE);
        ${when(entropy, "sums.spread = select(shrink * (sums.spread + sums.sum * (sums.most - most)), 0.0, sums.most <= NONE);")}
        sums.sum *= shrink;
        sums.most = most;
        ${shrinking}
      }
      ${each(
        "c",
        step,
        `let is_seen = ((seen >> c) & 1u) == 1u;
        let power = exp(s[c] - most);
        let weight = select(0.0, select(power, SMALLEST_WEIGHT, power < SMALLEST_WEIGHT), is_seen);
        sums.sum += weight;
        ${when(entropy, "sums.spread += select(0.0, weight * (s[c] - most), is_seen && !(s[c] - most < -80.0));")}
        w[c] = ${kept(dropout)};`,
      )}`;
}

function plainStep({ step, normalizer, dropout }: Weighing): string {
  const weight = normalizer === "sigmoid" ? "sigmoid(s[c])" : "s[c]";
  return each("c", step, `let weight = select(0.0, ${weight}, ((seen >> c) & 1u) == 1u);\n w[c] = ${kept(dropout)};`);
}

function kept(dropout: boolean): string {
  return dropout ? "select(weight, 0.0, is_dropped(row, j + c))" : "weight";
}

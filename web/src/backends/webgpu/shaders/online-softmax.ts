// A step of the online softmax: scores `s` and `seen` of the keys from `j` on become weights `w`, and update the row state `sums`.

import type { ScoreFeatures } from "../kernel.js";
import { each, when } from "./common.js";

export interface Weighing extends Pick<ScoreFeatures, "normalizer" | "dropout"> {
  readonly entropy: boolean;
  readonly step: number;
}

/** `shrinking`: what brings a row's output to another maximum, by the factor `shrink`. */
export function weightsStep(kernel: Weighing, rescaling: string): string {
  return kernel.normalizer === "softmax" ? softmaxStep(kernel, rescaling) : plainStep(kernel);
}

/** NaN is greater than nothing, so that it never becomes the maximum: it makes its row's sum NaN, and so the row's results. */
function softmaxStep({ step, entropy, dropout }: Weighing, rescaling: string): string {
  return `var row_max = sums.row_max;
      ${each("c", step, "row_max = select(row_max, s[c], s[c] > row_max);")}
      if (row_max > sums.row_max) {
        let rescale = select(exp(sums.row_max - row_max), 0.0, sums.row_max <= NONE);
        ${when(entropy, "sums.spread = select(rescale * (sums.spread + sums.row_sum * (sums.row_max - row_max)), 0.0, sums.row_max <= NONE);")}
        sums.row_sum *= rescale;
        sums.row_max = row_max;
        ${rescaling}
      }
      ${each(
        "c",
        step,
        `let is_seen = ((seen >> c) & 1u) == 1u;
        let power = exp(s[c] - row_max);
        let weight = select(0.0, select(power, SMALLEST_WEIGHT, power < SMALLEST_WEIGHT), is_seen);
        sums.row_sum += weight;
        ${when(entropy, "sums.spread += select(0.0, weight * (s[c] - row_max), is_seen && !(s[c] - row_max < -80.0));")}
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

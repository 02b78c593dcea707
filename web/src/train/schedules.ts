// Learning rates by step. Steps count from 0.

import { HeedError } from "../api/errors.js";
import { readFinite } from "../api/read-values.js";
import { readOnce } from "../layers/read.js";

/** The same rate at every step. */
export function constant(_step: number, { peak }: { readonly peak: number }): number {
  return peak;
}

export interface Schedule {
  readonly peak: number;
  /** Steps over which the rate rises from 0. Default 0. */
  readonly warmup?: number | undefined;
  /** Steps after which the rate is `floor`. */
  readonly total: number;
  /** Default 0. */
  readonly floor?: number | undefined;
}

/** Rises to the peak, then falls evenly to the floor. */
export function linear(step: number, schedule: Schedule): number {
  return between(step, schedule, (share) => 1 - share);
}

/** Rises to the peak, then falls to the floor by half a cosine. */
export function warmupCosine(step: number, schedule: Schedule): number {
  return between(step, schedule, (share) => (1 + Math.cos(Math.PI * share)) / 2);
}

function between(step: number, schedule: Schedule, fall: (share: number) => number): number {
  const given = readOnce("schedule", "rule", schedule, ["peak", "warmup", "total", "floor"]);
  const read = (name: string): number => {
    if (given[name] !== undefined) return readFinite("schedule", name, given[name], 0);
    throw new HeedError("option", `schedule: ${name} must be given`);
  };
  const [peak, total] = [read("peak"), read("total")];
  const warmup = readFinite("schedule", "warmup", given["warmup"], 0);
  const floor = readFinite("schedule", "floor", given["floor"], 0);
  if (step < warmup) return (peak * (step + 1)) / warmup;
  const share = Math.min(1, (step - warmup) / Math.max(1, total - warmup));
  return floor + (peak - floor) * fall(share);
}

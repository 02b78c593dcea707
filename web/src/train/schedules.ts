// Learning rates by step. Steps count from 0.

import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { isRecord, readCount, readFinite, refusal } from "../base/read-values.js";
import { required } from "../layers/read.js";

const NAMES = ["peak", "warmup", "total", "floor"];

/** The same rate at every step. */
export function constant(step: number, schedule: { readonly peak: number }): number {
  return read("constant", step, schedule)("peak");
}

/** A learning rate that rises to its peak, and falls to its floor. */
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
  return between("linear", step, schedule, (share) => 1 - share);
}

/** Rises to the peak, then falls to the floor by half a cosine. */
export function warmupCosine(step: number, schedule: Schedule): number {
  return between("warmupCosine", step, schedule, (share) => (1 + Math.cos(Math.PI * share)) / 2);
}

function between(where: string, step: number, schedule: Schedule, fall: (share: number) => number): number {
  const number = read(where, step, schedule);
  const [peak, total, warmup, floor] = [number("peak"), number("total"), number("warmup", 0), number("floor", 0)];
  if (step < warmup) return (peak * (step + 1)) / warmup;
  const share = Math.min(1, (step - warmup) / Math.max(1, total - warmup));
  return floor + (peak - floor) * fall(share);
}

/** Checks a step, and gives a reader of the schedule's numbers. Without a default a number must be given. */
function read(where: string, step: unknown, schedule: unknown): (name: string, absent?: number) => number {
  required(where, "step", readCount(where, "step", step, null, Number.MAX_SAFE_INTEGER, 0));
  const given = copyOf(where, schedule);
  return (name, absent) => required(where, name, readFinite(where, name, given[name], absent ?? null));
}

/** A copy whose values were read once. A wrong name gets no suggestion: that would take more code than the schedules. */
function copyOf(where: string, schedule: unknown = {}): Readonly<Record<string, unknown>> {
  if (!isRecord(schedule)) throw refusal(where, "schedule", "an object", schedule);
  let given: Readonly<Record<string, unknown>>;
  try {
    given = { ...schedule };
  } catch {
    throw refusal(where, "schedule", "readable", schedule);
  }
  const odd = Object.keys(given).find((name) => !NAMES.includes(name));
  if (odd === undefined) return given;
  throw new HeedError("option", `${where}: schedule has no option ${showValue(odd)}, but ${NAMES.join(", ")}`);
}

// Learning rates by step. Steps count from 0.

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

function between(
  step: number,
  { peak, warmup = 0, total, floor = 0 }: Schedule,
  fall: (share: number) => number,
): number {
  if (step < warmup) return (peak * (step + 1)) / warmup;
  const share = Math.min(1, (step - warmup) / Math.max(1, total - warmup));
  return floor + (peak - floor) * fall(share);
}

/** The seed of the day, so that all runs of a day agree, or that of a run that is repeated. */
export const DAY_SEED = Number(
  process.env["HEED_FUZZ_SEED"] ?? new Date().toISOString().slice(0, 10).replaceAll("-", ""),
);

// What was found out about this device, as text to hand on.

import type { Capabilities } from "heed";
import { exact, magnitude } from "../../src/ui/numbers.js";
import { HEADS, operationsOf, type Result, ROUNDS, WIDTH } from "./race.js";

export interface Device {
  readonly agent: string;
  readonly cores: number;
  readonly isolated: boolean;
  /** undefined: the kernels did not start, or not yet. */
  readonly capabilities: Capabilities | undefined;
}

const yes = (is: boolean): string => (is ? "yes" : "no");

/** What is there, line by line. `absent`: in the place of what the kernels would tell. */
export function statusOf(
  { cores, isolated, capabilities: found }: Device,
  absent = "kernels did not start",
): readonly (readonly [name: string, value: string])[] {
  return [
    ["Cores", String(cores)],
    ["Isolated page", yes(isolated)],
    ["SIMD", found ? yes(found.simd) : absent],
    ["Relaxed SIMD", found ? yes(found.relaxedSimd) : absent],
    ["Shared memory", found ? yes(found.sharedMemory) : absent],
    ["Chosen by itself", found ? `${found.backend}, ${found.variant}, ${found.threads} of ${cores}` : absent],
  ];
}

export const FIGURES = ["ms", "× plain", "GFLOP/s", "error"] as const;

/** A line of the race; the first of all is the plain one. */
export function figuresOf({ milliseconds, error }: Result, tokens: number, [plain]: readonly Result[]) {
  if (milliseconds === undefined) return FIGURES.map(() => "…");
  return [
    milliseconds.toFixed(milliseconds < 10 ? 2 : 0),
    plain?.milliseconds === undefined ? "" : exact(plain.milliseconds / milliseconds, 1),
    exact(operationsOf(tokens) / milliseconds / 1e6, 1),
    magnitude(error ?? Number.NaN),
  ];
}

export function reportOf(device: Device, tokens: number, results: readonly Result[], when: string): string {
  const line = (name: string, figures: readonly string[]): string =>
    name.padEnd(40) + figures.map((figure) => figure.padStart(10)).join("");
  return [
    "heed on this device",
    when,
    device.agent,
    ...statusOf(device).map(([name, value]) => `${name}: ${value}`),
    ...(device.capabilities?.reasons ?? []),
    "",
    `Attention of ${HEADS} heads, ${tokens} tokens, width ${WIDTH}; medians of ${ROUNDS} rounds in turns, awaited from the page.`,
    "Errors are the largest of some rows against double precision.",
    line("", FIGURES),
    ...results.map((result) =>
      line(result.name, result.note === "" ? figuresOf(result, tokens, results) : [` not here: ${result.note}`]),
    ),
    "",
  ].join("\n");
}

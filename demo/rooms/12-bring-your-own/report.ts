// What was found out about this device, as text to hand on.

import type { Capabilities } from "heed";
import { magnitude } from "../../src/ui/numbers.js";
import { HEADS, operationsOf, type Result, ROUNDS, WIDTH } from "./race.js";

export interface Device {
  readonly agent: string;
  readonly cores: number;
  readonly isolated: boolean;
  /** undefined: the kernels did not start. */
  readonly capabilities: Capabilities | undefined;
}

type Line = readonly [name: string, value: string];

const yes = (is: boolean): string => (is ? "yes" : "no");

const KERNELS: readonly (readonly [name: string, value: (found: Capabilities, cores: number) => string])[] = [
  ["SIMD", ({ simd }) => yes(simd)],
  ["Relaxed SIMD", ({ relaxedSimd }) => yes(relaxedSimd)],
  ["Shared memory", ({ sharedMemory }) => yes(sharedMemory)],
  ["Chosen by itself", ({ backend, variant, threads }, cores) => `${backend}, ${variant}, ${threads} of ${cores}`],
];

/** What is there, line by line. */
export function statusOf(device: Device): readonly Line[] {
  const { cores, capabilities } = device;
  const known: readonly Line[] =
    capabilities === undefined
      ? [["Kernels", "did not start"]]
      : KERNELS.map(([name, value]) => [name, value(capabilities, cores)]);
  return [...pageOf(device), ...known];
}

/** The same, with places for what is known as soon as the kernels are there. */
export function statusToCome(device: Device): readonly Line[] {
  return [...pageOf(device), ...KERNELS.map(([name]): Line => [name, "…"])];
}

function pageOf({ cores, isolated }: Device): readonly Line[] {
  return [
    ["Cores", String(cores)],
    ["Isolated page", yes(isolated)],
  ];
}

export function reportOf(device: Device, tokens: number, results: readonly Result[], when: string): string {
  const base = results[0]?.milliseconds;
  const lines = results.map(({ name, milliseconds, error, note }) => {
    if (milliseconds === undefined || error === undefined) return `${name.padEnd(40)} not here: ${note}`;
    const times = base === undefined ? "" : `${(base / milliseconds).toFixed(1)} x`;
    const speed = `${(operationsOf(tokens) / milliseconds / 1e6).toFixed(2)} GFLOP/s`;
    return `${name.padEnd(40)} ${`${milliseconds.toFixed(2)} ms`.padStart(12)} ${times.padStart(9)} ${speed.padStart(16)}  error ${magnitude(error)}`;
  });
  return [
    "heed on this device",
    when,
    device.agent,
    ...statusOf(device).map(([name, value]) => `${name}: ${value}`),
    ...(device.capabilities?.reasons ?? []),
    "",
    `Attention of ${HEADS} heads, ${tokens} tokens, width ${WIDTH}; medians of ${ROUNDS} rounds in turns, awaited from the page.`,
    "Errors are the largest of some rows against double precision.",
    ...lines,
    "",
  ].join("\n");
}

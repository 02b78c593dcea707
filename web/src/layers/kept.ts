// What an operation leaves in the engine.

import type { Computed, Resident } from "../backends/backend.js";

export function keptOf(computed: readonly Computed[]): readonly Resident[] {
  return computed.map((part) => {
    if (part.kind !== "resident") throw new TypeError("an operation of layers left an array");
    return part.resident;
  });
}

/** The result of an operation that has one. */
export function oneOf(computed: readonly Computed[]): Resident {
  const [resident] = keptOf(computed);
  if (resident === undefined) throw new TypeError("a call of one result had none");
  return resident;
}

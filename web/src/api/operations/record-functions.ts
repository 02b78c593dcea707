// Records the expressions that the functions of a call build, for its backward pass.

import type { ModTrees } from "../../expr/tree.js";

export type { ModTrees };

/** The functions among the options, each wrapped so that its expression is recorded in `trees` as well. */
export function recordFunctions(options: Readonly<Record<string, unknown>>, trees: ModTrees): Record<string, unknown> {
  const recorded: Record<string, unknown> = {};
  for (const name of ["scoreMod", "maskMod", "probMod"] as const) {
    const given = options[name];
    if (typeof given !== "function") continue;
    const record = (leaves: Readonly<Record<string, unknown>>): unknown => {
      const made: unknown = given(leaves);
      // One that returns its argument is the identity, which has no parameters and the derivative 1.
      if (made !== leaves[name.slice(0, -3)]) trees[name] = made;
      return made;
    };
    // Only a function without arguments may return a constant, which is told by its length.
    recorded[name] = Object.defineProperty(record, "length", { value: given.length });
  }
  return recorded;
}

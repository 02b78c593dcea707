// The functions of a call's options, for its backward pass.

import type { ModTrees } from "../../expr/tree.js";

export type { ModTrees };

/** The functions among the options, which also write down what they return. */
export function remembering(options: Readonly<Record<string, unknown>>, trees: ModTrees): Record<string, unknown> {
  const remembered: Record<string, unknown> = {};
  for (const name of ["scoreMod", "maskMod", "probMod"] as const) {
    const given = options[name];
    if (typeof given !== "function") continue;
    const remember = (leaves: Readonly<Record<string, unknown>>): unknown => {
      const made: unknown = given(leaves);
      // One that returns its argument is the identity, which has no parameters and the derivative 1.
      if (made !== leaves[name.slice(0, -3)]) trees[name] = made;
      return made;
    };
    // Only one that takes no argument may return a constant.
    remembered[name] = Object.defineProperty(remember, "length", { value: given.length });
  }
  return remembered;
}

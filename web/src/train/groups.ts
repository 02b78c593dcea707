// Groups of parameters with rules of their own in a step.

import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { guard } from "../base/guard.js";
import { listOf } from "../base/typed-array.js";
import { Layer } from "../layers/layer.js";
import { readAtLeastZero, readCopy } from "../layers/read.js";
import type { Learning } from "./variables.js";

/** Parameters with a learning rate and a weight decay of their own. */
export interface ParameterGroup {
  /**
   * Which parameters: those of this name, or whose names begin with it and a dot; those in whose names a pattern matches somewhere; those for whose
   * names a function returns true; "norms and biases" are all of fewer than two axes.
   */
  readonly match: string | RegExp | ((name: string) => boolean);
  /** A factor of the optimizer's rate. Default 1. */
  readonly learningRate?: number | undefined;
  /** In place of the optimizer's. */
  readonly weightDecay?: number | undefined;
}

interface Group {
  readonly matches: (name: string, shape: readonly number[]) => boolean;
  readonly factor: number;
  readonly decay: number | undefined;
}

const MOST_GROUPS = 1024;

/** The groups of an optimizer. Throws where one is of no parameter. */
export function readGroups(where: string, value: unknown, model: Layer): readonly Group[] {
  if (value === undefined) return [];
  return guard("option", `${where}: reading groups`, () => {
    const list = listOf(value, MOST_GROUPS);
    if (list === null) throw new HeedError("option", `${where}: groups must be an array, got ${showValue(value)}`);
    return list.map((one, at) => {
      const called = `groups[${at}]`;
      const given = readCopy(where, called, one, ["match", "learningRate", "weightDecay"]);
      const matches = matcherOf(given["match"]);
      if (matches === null || ![...Layer.allOf(model)].some(([name, { shape }]) => matches(name, shape))) {
        const rule = "match must be a name, a pattern or a function that some parameter fulfils";
        throw new HeedError("option", `${where}: ${called}.${rule}, got ${showValue(given["match"])}`);
      }
      const factor = readAtLeastZero(where, `${called}.learningRate`, given["learningRate"], 1);
      const decay = given["weightDecay"];
      const read = (): number => readAtLeastZero(where, `${called}.weightDecay`, decay, 0);
      return { matches, factor, decay: decay === undefined ? undefined : read() };
    });
  });
}

function matcherOf(match: unknown): Group["matches"] | null {
  if (match === "norms and biases") return (_, shape) => shape.length < 2;
  if (typeof match === "string") return (name) => name === match || name.startsWith(`${match}.`);
  if (typeof match === "function") return (name) => match(name) === true;
  if (!(match instanceof RegExp)) return null;
  // A copy, whose methods are JavaScript's.
  const pattern = new RegExp(match);
  return (name) => name.search(pattern) !== -1;
}

/** The first group that one of the names is in. */
export function groupOf(groups: readonly Group[], { variable, parameters }: Learning): Group | undefined {
  const names = [...parameters.keys()];
  return groups.find(({ matches }) => names.some((name) => matches(name, variable.shape)));
}

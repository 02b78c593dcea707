// Gives the tables of what learns their numbers: a tree becomes one that compiles. Only passes of heed/train import this.

import { markRead } from "./family.js";
import type { Learnt, TableData } from "./tree.js";

/** As many as the compiler takes, which refuses a larger tree. */
const MOST_NODES = 10_000;

/** More than any operator has. */
const MOST_OPERANDS = 4;

/** What a tree has tables of, and the tree with other tables in place of those. */
export interface Unfilled {
  readonly sources: ReadonlySet<Learnt>;
  readonly fill: (tables: ReadonlyMap<Learnt, TableData>) => unknown;
}

/** Each property of a node is read once, because it may come from anywhere. */
export function unfilled(tree: unknown): Unfilled {
  const copies = new Map<unknown, { args: unknown; table: unknown; readonly of: Learnt | undefined }>();
  const sources = new Set<Learnt>();
  const queue = [tree];
  for (const node of queue) {
    if (typeof node !== "object" || node === null || copies.has(node) || copies.size > MOST_NODES) continue;
    const { type, op, args, value, table } = node as Readonly<Record<string, unknown>>;
    const of: unknown = Object(table).of;
    const operands = Array.isArray(args) ? args.slice(0, MOST_OPERANDS + 1) : args;
    const copy = {
      type,
      op,
      args: operands,
      ...(value !== undefined && { value }),
      table,
      of: of as Learnt | undefined,
    };
    copies.set(node, copy);
    if (copy.of !== undefined) sources.add(copy.of);
    if (Array.isArray(operands)) queue.push(...operands);
  }
  if (sources.size === 0) return { sources, fill: () => tree };
  const fill = (tables: ReadonlyMap<Learnt, TableData>): unknown => {
    for (const [node, copy] of copies) {
      markRead(Object(node));
      if (Array.isArray(copy.args)) copy.args = copy.args.map((arg) => copies.get(arg) ?? arg);
      copy.table = (copy.of && tables.get(copy.of)) ?? copy.table;
    }
    return copies.get(tree) ?? tree;
  };
  return { sources, fill };
}

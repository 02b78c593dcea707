// The operands of a problem: listed, copied, or exchanged for others.

import { HeedError } from "../../base/errors.js";
import type { Operand, Resident, Source } from "../backend.js";

/** Every operand of a problem, with its name in messages: "query", "score.w". */
export function operandsOf(problem: object): readonly (readonly [string, Operand])[] {
  return Object.entries(problem).flatMap(([name, value]) => {
    if (isOperand(value)) return [[name, value] as const];
    if (!isGroup(value)) return [];
    return operandsOf(value).map(([inner, operand]) => [`${name}.${inner}`, operand] as const);
  });
}

export function residentsOf(problem: object): readonly Resident[] {
  return operandsOf(problem).flatMap(([, { source }]) => (source.kind === "resident" ? [source.resident] : []));
}

/** Copies the arrays of a problem that has to wait while its caller may overwrite them. */
export function snapshot<P extends object>(where: string, problem: P): P {
  return withSources(problem, (source) => {
    if (source.kind !== "array") return source;
    try {
      return { kind: "array", array: source.array.slice() };
    } catch (cause) {
      const { byteLength } = source.array;
      throw new HeedError("memory", `${where}: no room for a copy of ${byteLength} bytes of inputs`, { cause });
    }
  });
}

/** The same problem with other residents. */
export function withResidents<P extends object>(problem: P, exchanged: ReadonlyMap<Resident, Resident>): P {
  return withSources(problem, (source) => {
    const other = source.kind === "resident" ? exchanged.get(source.resident) : undefined;
    return other === undefined ? source : { kind: "resident", resident: other };
  });
}

function withSources<P extends object>(problem: P, change: (source: Source) => Source): P {
  const changed = Object.entries(problem).map(([name, value]) => {
    if (isOperand(value)) return [name, { ...value, source: change(value.source) }];
    return [name, isGroup(value) ? withSources(value, change) : value];
  });
  return Object.fromEntries(changed);
}

function isOperand(value: unknown): value is Operand {
  return isGroup(value) && "source" in value && "strides" in value;
}

/** A plain record: what problems are made of, beside arrays and numbers. */
function isGroup(value: unknown): value is object {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

// Parameters under their published names, as transformers has them.

import { HeedError } from "../base/errors.js";
import { floatsOf, type ParameterTensor, transposed } from "../layers/formats/stored.js";
import type { PublishedPaths } from "./published-paths.js";

/** `own`: by heed's names. What is tied has one array, and its first name alone. */
export function published(
  where: string,
  own: ReadonlyMap<string, ParameterTensor>,
  paths: PublishedPaths,
): Map<string, ParameterTensor> {
  const made = new Map<string, ParameterTensor>();
  const joined = new Map<string, (ParameterTensor | undefined)[]>();
  const seen = new Set<Float32Array>();
  for (const [name, tensor] of own) {
    // Adapters have a file of their own.
    if (/\.lora_[AB]\.weight$/.test(name) || seen.has(tensor.data)) continue;
    seen.add(tensor.data);
    const [, path = "", part = ""] = /^(.*)\.([^.]+)$/.exec(name) ?? [];
    const whole = paths.joined(path);
    const theirs = paths.theirs(name) ?? (whole === null ? paths.theirs(path) : null);
    if (whole !== null) {
      const parts = joined.get(`${whole.theirs}.${part}`) ?? [];
      parts[whole.part] = tensor;
      joined.set(`${whole.theirs}.${part}`, parts);
    } else if (theirs === null) {
      throw new HeedError("unsupported", `${where}: parameter ${name} has no published name`);
    } else {
      // Norms that are published as what they add to 1.
      const isShifted = paths.isShifted(path);
      const isTurned = tensor.shape.length === 2 && paths.isTransposed(path);
      made.set(
        theirs === paths.theirs(name) ? theirs : `${theirs}.${part}`,
        isTurned ? floatsOf(transposed(tensor)) : isShifted ? minusOne(tensor) : tensor,
      );
    }
  }
  for (const [name, parts] of joined) {
    const tensor = stacked(parts.filter((part) => part !== undefined));
    made.set(name, tensor.shape.length === 2 && paths.isTransposed("layers.0") ? floatsOf(transposed(tensor)) : tensor);
  }
  return made;
}

const minusOne = ({ data, shape }: ParameterTensor): ParameterTensor => ({
  data: data.map((weight) => weight - 1),
  shape,
});

/** Along the first axis. */
export function stacked(parts: readonly ParameterTensor[]): ParameterTensor {
  const data = new Float32Array(parts.reduce((total, part) => total + part.data.length, 0));
  let at = 0;
  for (const part of parts) {
    data.set(part.data, at);
    at += part.data.length;
  }
  const rows = parts.reduce((total, { shape }) => total + (shape[0] ?? 0), 0);
  return { data, shape: [rows, ...(parts[0]?.shape.slice(1) ?? [])] };
}

// What `describe` says of a layer or a model: numbers, bytes and formats, by layer and in all.

import { product } from "../api/operands.js";
import type { WeightFormat } from "./formats/format.js";
import { bytesOf, fits } from "./formats/stored.js";
import type { Parameter } from "./parameters.js";
import type { Weights } from "./taking.js";

/** A layer of a described model: its parameters, their bytes and format. */
export interface LayerDescription {
  /** Its path in the model; "" for the model itself. */
  readonly name: string;
  readonly parameters: number;
  readonly bytes: number;
  /** That of most of its numbers. */
  readonly format: WeightFormat;
}

/** What `describe` tells of a model. */
export interface ModelDescription {
  /** How many numbers it has. */
  readonly parameters: number;
  /** The bytes of these numbers in their formats. In an engine they take about as many. */
  readonly bytes: number;
  /** The bytes of each format. */
  readonly formats: Readonly<Partial<Record<WeightFormat, number>>>;
  /** The layers that have parameters of their own. */
  readonly layers: readonly LayerDescription[];
}

/** `ties` are names of parameters that have the numbers of others. With `weights` it is what loading so would make of f32. */
export function describe(
  layers: readonly (readonly [string, ReadonlyMap<string, Parameter>])[],
  ties: ReadonlyMap<string, string>,
  weights: Weights | null,
): ModelDescription {
  const isLoaded = layers.some(([, own]) => [...own.values()].some(({ numbers }) => numbers !== null));
  const seen = new Set<unknown>();
  const formats: Partial<Record<WeightFormat, number>> = {};
  const described: LayerDescription[] = [];
  for (const [path, own] of layers) {
    const ofLayer = new Map<WeightFormat, number>();
    for (const [name, parameter] of own) {
      const { numbers, shape } = parameter;
      const full = path === "" ? name : `${path}.${name}`;
      const identity = numbers ?? ties.get(full) ?? full;
      if (seen.has(identity) || (isLoaded && numbers === null)) continue;
      seen.add(identity);
      const format = weights === null ? parameter.format : formatIn(parameter, weights);
      ofLayer.set(format, (ofLayer.get(format) ?? 0) + product(shape));
    }
    let bytes = 0;
    for (const [format, count] of ofLayer) {
      const size = bytesOf(format, count);
      formats[format] = (formats[format] ?? 0) + size;
      bytes += size;
    }
    const parameters = sumOf(ofLayer.values());
    const [format] = [...ofLayer.keys()].sort((a, b) => (ofLayer.get(b) ?? 0) - (ofLayer.get(a) ?? 0));
    if (format !== undefined) described.push({ name: path, parameters, bytes, format });
  }
  const parameters = sumOf(described.map((layer) => layer.parameters));
  return { parameters, bytes: sumOf(Object.values(formats)), formats, layers: described };
}

/** The format that a parameter takes of f32 numbers, or of its own where nothing is rounded. */
export function formatIn({ layout, shape, format }: Parameter, weights: Weights): WeightFormat {
  if (weights === "as stored") return format;
  return layout !== "plain" && fits(weights, shape.at(-1) ?? 0) ? weights : "f32";
}

const sumOf = (numbers: Iterable<number>): number => [...numbers].reduce((sum, number) => sum + number, 0);

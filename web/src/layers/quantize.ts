// Rounds the weights of a model, or a tensor, to a format, and widens a tensor again.

import { guard } from "../base/guard.js";
import { readChoice } from "../base/read-values.js";
import { type AnyTensor, fits, floatsOf, type ParameterTensor, type StoredTensor, stored } from "./formats/stored.js";
import { Layer } from "./layer.js";
import { Numbers } from "./numbers.js";
import type { Parameter } from "./parameters.js";
import { required } from "./read.js";
import { type ParameterInput, readParameter } from "./read-parameters.js";
import { StoredNumbers } from "./stored-numbers.js";
import { assertNumbersFit } from "./taking.js";
import type { Variable } from "./variable.js";

/** Formats to which heed rounds. */
export type RoundedFormat = "f16" | "bf16" | "int8" | "int4";

const ROUNDED = ["f16", "bf16", "int8", "int4"] as const;

/** Adapters learn, so they stay f32. */
const ADAPTERS = /(?:^|\.)lora_[AB]\./;

/**
 * Rounds every matrix and table of a loaded model to a format, in place, and returns the model. Vectors stay f32, and so do adapters, and
 * matrices whose rows have no whole number of blocks. Of a tensor it returns the rounded one.
 */
export function quantize<L extends Layer>(model: L, format: RoundedFormat): L;
export function quantize(tensor: ParameterInput, format: RoundedFormat): StoredTensor;
export function quantize(given: unknown, format: unknown): Layer | StoredTensor {
  const where = "quantize";
  const to = required(
    where,
    "format",
    format === undefined ? null : readChoice(where, "format", format, ROUNDED, "int8"),
  );
  if (!Layer.is(given)) return stored(where, readTensor(where, given), to);
  const rounded = roundedOf(where, given, to);
  for (const [parameter, numbers] of rounded) parameter.set(numbers);
  return given;
}

/** The numbers of a stored tensor in f32, exactly. */
export function dequantize(tensor: ParameterInput): ParameterTensor {
  const { data, shape } = floatsOf(readTensor("dequantize", tensor));
  return { data, shape };
}

function readTensor(where: string, given: unknown): AnyTensor {
  return guard("option", `${where}: reading its arguments`, () => readParameter(where, "tensor", given));
}

function roundedOf(where: string, model: Layer, format: RoundedFormat): ReadonlyMap<Parameter, StoredNumbers> {
  const rounded = new Map<Parameter, StoredNumbers>();
  // Tied parameters stay tied.
  const known = new Map<unknown, StoredNumbers>();
  for (const [name, parameter] of Layer.allOf(model)) {
    const { layout, numbers, shape, variable } = parameter;
    if (numbers === null || numbers.format === format || layout === "plain") continue;
    if (!fits(format, shape.at(-1) ?? 0) || ADAPTERS.test(name)) continue;
    const called = `${where}: parameter ${name}`;
    const made = known.get(variable ?? numbers) ?? numbersOf(called, parameter, format);
    known.set(variable ?? numbers, made);
    rounded.set(parameter, made);
  }
  return rounded;
}

/** Numbers that JavaScript has are rounded when an engine takes them. Those that only an engine has are rounded now, so that none are in memory twice. */
function numbersOf(where: string, parameter: Parameter, format: RoundedFormat): StoredNumbers {
  const { shape, variable } = parameter;
  const numbers = parameter.loaded(where);
  const isHeld = variable === null && numbers instanceof Numbers && numbers.isHeld;
  const tensor = { data: variable === null ? numbers.read(where) : learntBy(variable, where), shape };
  if (!isHeld) return new StoredNumbers(stored(where, tensor, format), format, parameter.sizes());
  assertNumbersFit(where, tensor, format);
  return new StoredNumbers(tensor, format, parameter.sizes());
}

/** A copy of what a parameter has learnt. */
function learntBy({ backend, value }: Variable, where: string): Float32Array {
  return new Float32Array(backend.bytesOf(where, value).slice().buffer);
}

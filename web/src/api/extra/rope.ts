// rope: its arguments -> a checked problem -> results.

import type { Arguments, Backend } from "../../backends/backend.js";
import type { ExtraBackend, ExtraOnGpu, RopeProblem } from "../../backends/extra-backend.js";
import { showShape, showValue } from "../describe.js";
import { copyArguments } from "../detach.js";
import { HeedError } from "../errors.js";
import { guard, guardAsync } from "../guard.js";
import { denseView, userShape, type View, viewOf } from "../layout.js";
import { operandOf, type ReadTensor, readTensor, roomFor } from "../operands.js";
import { DEFAULTS } from "../options.js";
import {
  readBoolean,
  readCount,
  readFinite,
  readPositive,
  readRecord,
  readSignal,
  throwIfAborted,
} from "../read-values.js";
import { returned } from "../results.js";
import type { ArrayTensor, Tensor } from "../tensor.js";
import { numbersOf } from "../typed-array.js";
import { ROPE_OPTIONS } from "./options.js";
import { readLayout, readOptional, sameShape } from "./read-layout.js";
import { resultOf } from "./results.js";
import { frequenciesOf } from "./rope-frequencies.js";

const WHERE = "rope";

/** `home` is where results stay that are to be kept; a tensor of it can be `x` where `extra` computes in its memory. */
export async function rope(
  extra: ExtraBackend,
  home: Backend,
  [x]: readonly unknown[],
  options: unknown,
): Promise<ArrayTensor | Tensor> {
  const { problem, shape, signal } = check(home, x, options);
  return guardAsync("memory", `${WHERE}: computing`, async () =>
    resultOf(home, await extra.rope(problem, signal), shape, problem.keep),
  );
}

/** On the GPU that `home` has, where that is the place for it; else null. `again` is told when a lost device was in the way. */
export function ropeOnGpu(
  gpu: ExtraOnGpu,
  home: Backend,
  given: Arguments,
  again: (given: Arguments) => Promise<unknown>,
): Promise<unknown> | null {
  const { problem, shape, signal } = check(home, given.tensors[0], given.options);
  const computing = gpu.rope(problem, signal);
  if (computing === null) return null;
  const kept = problem.retry ? copyArguments(given) : null;
  return guardAsync("memory", `${WHERE}: computing`, async () => {
    try {
      return returned(home, await computing, shape);
    } catch (error) {
      if (kept === null || !(await gpu.recovers(error, problem))) throw error;
      return again(kept);
    }
  });
}

interface Checked {
  readonly problem: RopeProblem;
  readonly shape: readonly number[];
  readonly signal: AbortSignal | null;
}

function check(home: Backend, x: unknown, options: unknown): Checked {
  const checked = guard("option", `${WHERE}: reading its arguments`, () => read(home, x, options));
  throwIfAborted(WHERE, checked.signal);
  return checked;
}

function read(home: Backend, x: unknown, options: unknown): Checked {
  const given = readRecord(WHERE, "options", options, ROPE_OPTIONS);
  const input = readTensor(WHERE, "input", x, home);
  const rank = input.shape.length;
  if (rank < 2 || rank > 4) {
    throw new HeedError("shape", `${WHERE}: input must have rank 2, 3 or 4, got ${showShape(input.shape)}`);
  }
  const layout = readLayout(WHERE, given["layout"]);
  const heads = readCount(WHERE, "heads", given["heads"], null);
  if (layout === "packed" && heads === null) {
    throw new HeedError("option", `${WHERE}: layout "packed" needs heads`);
  }
  const view = viewOf(WHERE, "input", input.shape, layout, heads ?? 1);
  const headDim = view.shape[3];
  if (headDim === 0) {
    throw new HeedError("shape", `${WHERE}: head_dim must be at least 1, got ${showShape(input.shape)}`);
  }
  const cosines = readOptional(WHERE, "cos", given["cos"], home);
  const sines = readOptional(WHERE, "sin", given["sin"], home);
  if ((cosines === null) !== (sines === null)) {
    throw new HeedError("option", `${WHERE}: cos and sin must be given together`);
  }
  const columns = cosines?.shape[cosines.shape.length - 1] ?? 0;
  const rotaryDim = readRotaryDim(given["rotaryDim"], cosines === null ? headDim : 2 * columns, view);
  const positions = readPositions(given["positions"], view);
  const tables =
    cosines === null || sines === null ? null : readTables(given, cosines, sines, view, rotaryDim, positions);
  const { frequencies, magnitude } =
    tables === null
      ? frequenciesOf(WHERE, readPositive(WHERE, "base", given["base"], 10000), rotaryDim, given["scaling"])
      : { frequencies: null, magnitude: 1 };
  const inverse = readBoolean(WHERE, "inverse", given["inverse"], false);
  const order = layout === "bhnd" || rank === 2 ? "bhnd" : "bnhd";
  return {
    problem: {
      input: operandOf(input, view),
      output: roomFor(WHERE, "the result", denseView(order, view.shape)),
      tables,
      frequencies,
      positions,
      positionsByBatch: positions !== null && positions.length !== view.shape[2],
      rotaryDim,
      interleaved: readBoolean(WHERE, "interleaved", given["interleaved"], false),
      inverse,
      magnitude: inverse ? 1 / magnitude : magnitude,
      keep: readBoolean(WHERE, "keep", given["keep"], DEFAULTS.keep),
      retry: readBoolean(WHERE, "retry", given["retry"], DEFAULTS.retry),
    },
    shape: userShape(view.shape, rank, layout),
    signal: readSignal(WHERE, given["signal"]),
  };
}

function readRotaryDim(value: unknown, absent: number, view: View): number {
  const rotaryDim = readFinite(WHERE, "rotaryDim", value, absent);
  if (rotaryDim >= 2 && rotaryDim <= view.shape[3] && rotaryDim % 2 === 0) return rotaryDim;
  throw new HeedError(
    "option",
    `${WHERE}: rotaryDim must be an even number from 2 to head_dim, got ${rotaryDim} for ${showShape(view.shape)}`,
  );
}

/** One a place, or a batch entry and place; null: 0, 1, 2 ... */
function readPositions(value: unknown, view: View): Float64Array<ArrayBuffer> | null {
  if (value === undefined) return null;
  const [batch, , length] = view.shape;
  const numbers = typeof value === "number" ? Array.from({ length }, (_, place) => value + place) : numbersOf(value);
  const isCount = numbers?.length === length || numbers?.length === batch * length;
  if (numbers === null || !isCount) {
    throw new HeedError(
      "option",
      `${WHERE}: positions must be a finite number, or one for each of ${length} places or of ${batch} batch entries' places, got ${showValue(value)}`,
    );
  }
  const at = numbers.findIndex((position) => !Number.isFinite(position));
  if (at === -1) return Float64Array.from(numbers);
  throw new HeedError("option", `${WHERE}: positions must be finite numbers, number ${at} is not`);
}

/** Tables of [rows, pairs], or [batch, rows, pairs]. */
function readTables(
  given: Readonly<Record<string, unknown>>,
  cosines: ReadTensor,
  sines: ReadTensor,
  view: View,
  rotaryDim: number,
  positions: Float64Array | null,
): RopeProblem["tables"] {
  for (const name of ["base", "scaling"]) {
    if (given[name] !== undefined) throw new HeedError("option", `${WHERE}: ${name} and cos exclude each other`);
  }
  const { shape } = cosines;
  const [entries = 0, rows = 0, columns = 0] = shape.length === 2 ? [1, ...shape] : shape;
  const fits = (shape.length === 2 || shape.length === 3) && (entries === 1 || entries === view.shape[0]);
  if (!fits || columns !== rotaryDim / 2 || !sameShape(shape, sines.shape)) {
    throw new HeedError(
      "shape",
      `${WHERE}: cos and sin must have a row of ${rotaryDim / 2} numbers, one a pair, for each position, got cos ${showShape(shape)} sin ${showShape(sines.shape)}`,
    );
  }
  const places = positions ?? Float64Array.from({ length: view.shape[2] }, (_, place) => place);
  const at = places.findIndex((position) => !Number.isInteger(position) || position < 0 || position >= rows);
  if (at !== -1) {
    throw new HeedError(
      "option",
      `${WHERE}: positions must be rows of cos and sin, which have ${rows}, place ${at % Math.max(1, view.shape[2])} has none`,
    );
  }
  const table = denseView("bhnd", [entries, 1, rows, columns]);
  return { cosines: operandOf(cosines, table), sines: operandOf(sines, table) };
}

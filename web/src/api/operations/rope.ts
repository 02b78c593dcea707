// rope: reads its arguments, makes a checked problem, and returns the result.

import type { Backend } from "../../backends/backend.js";
import { showShape } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import { guard, guardAsync } from "../../base/guard.js";
import { readBoolean, readCount, readRecord, readSignal, throwIfAborted } from "../../base/read-values.js";
import { ROPE, type RopeProblem } from "../../operations/rope.js";
import { denseView, readLayout, userShape, type View, viewOf } from "../layout.js";
import { operandOf, type ReadTensor, readTensor, roomFor } from "../operands.js";
import { DEFAULTS } from "../options.js";
import type { ArrayTensor, Tensor } from "../tensor.js";
import { ROPE_OPTIONS } from "./options.js";
import { readOptional, sameShape } from "./read-tensors.js";
import { returnedAll } from "./results.js";
import { frequenciesOf } from "./rope-frequencies.js";
import { readPositions, readRotaryDim } from "./rotation.js";

const WHERE = "rope";

export async function rope(backend: Backend, [x]: readonly unknown[], options: unknown): Promise<ArrayTensor | Tensor> {
  const { problem, shape, signal } = guard("option", `${WHERE}: reading its arguments`, () =>
    checkRope(backend, x, options),
  );
  throwIfAborted(WHERE, signal);
  return guardAsync("memory", `${WHERE}: computing`, async () => {
    const [rotated] = returnedAll(backend, await backend.run(ROPE, problem, signal), [shape]);
    return rotated;
  });
}

interface Checked {
  readonly problem: RopeProblem;
  readonly shape: readonly number[];
  readonly signal: AbortSignal | null;
}

/** Checks a call, also one in a pass of training. */
export function checkRope(backend: Backend, x: unknown, options: unknown): Checked {
  const given = readRecord(WHERE, "options", options, ROPE_OPTIONS);
  const input = readTensor(WHERE, "input", x, backend);
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
  const cosines = readOptional(WHERE, "cos", given["cos"], backend);
  const sines = readOptional(WHERE, "sin", given["sin"], backend);
  if ((cosines === null) !== (sines === null)) {
    throw new HeedError("option", `${WHERE}: cos and sin must be given together`);
  }
  const columns = cosines?.shape[cosines.shape.length - 1] ?? 0;
  const rotaryDim = readRotaryDim(WHERE, given["rotaryDim"], view.shape, cosines === null ? headDim : 2 * columns);
  const positions = readPositions(WHERE, given["positions"], view.shape[0], view.shape[2]);
  const tables =
    cosines === null || sines === null ? null : readTables(given, cosines, sines, view, rotaryDim, positions);
  const { frequencies, magnitude } =
    tables === null ? frequenciesOf(WHERE, given, rotaryDim) : { frequencies: null, magnitude: 1 };
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
  const used = positions ?? Float64Array.from({ length: view.shape[2] }, (_, token) => token);
  const at = used.findIndex((position) => !Number.isInteger(position) || position < 0 || position >= rows);
  if (at !== -1) {
    throw new HeedError(
      "option",
      `${WHERE}: positions must be rows of cos and sin, which have ${rows}, that of token ${at % Math.max(1, view.shape[2])} is none`,
    );
  }
  const table = denseView("bhnd", [entries, 1, rows, columns]);
  return { cosines: operandOf(cosines, table), sines: operandOf(sines, table) };
}

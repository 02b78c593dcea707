// Relative positions of Shaw et al. 2018 (arXiv 1803.02155): a vector for keys and one for values at each distance up to a limit. They are
// computed by attention and linear attention.

import type { Backend } from "../../backends/backend.js";
import { showShape } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import { guard, guardAsync } from "../../base/guard.js";
import { readBoolean, readCount, readRecord, readSignal } from "../../base/read-values.js";
import { attend } from "../attention.js";
import { type Arguments, hold } from "../hold.js";
import { readLayout, viewOf } from "../layout.js";
import { product, readF32, readTensor } from "../operands.js";
import { LEAST_OFFSET, readTableSize } from "../positions/read.js";
import { type ArrayTensor, Tensor } from "../tensor.js";
import { distanceRow, floatsOf, readDistances, sumsByDistance } from "./distances.js";
import { linearAttention } from "./linear-attention.js";
import { arrayResult } from "./results.js";

/** scale * q . table[distance of the key], [B, H, L, S] with the leading axes that q has: a bias for attention. */
export async function relativeKeys(
  backend: Backend,
  tensors: readonly unknown[],
  givenOptions: unknown,
): Promise<ArrayTensor | Tensor> {
  const where = "relativeKeys";
  const {
    tensors: [q, tableGiven],
    options,
  } = await asArrays({ tensors, options: givenOptions });
  const names = ["length", "offset", "scale", "layout", "heads", "keep", "signal"];
  const { scale, signal, query, table, layout, heads, queries, length, offset, keep } = guard(
    "option",
    `${where}: reading its arguments`,
    () => {
      const given = readRecord(where, "options", options, names);
      const query = readTensor(where, "query", q, null);
      const layout = readLayout(where, given["layout"]);
      const heads = readCount(where, "heads", given["heads"], null);
      const queries = viewOf(where, "query", query.shape, layout, heads ?? 1).shape[2];
      const length = readTableSize(where, "length", given["length"], 0, queries);
      return {
        scale: given["scale"],
        signal: readSignal(where, given["signal"]) ?? undefined,
        query,
        table: readDistances(where, tableGiven),
        layout,
        heads,
        queries,
        length,
        offset: readTableSize(where, "offset", given["offset"], LEAST_OFFSET, length - queries),
        keep: readBoolean(where, "keep", given["keep"], false),
      };
    },
  );
  return guardAsync("memory", `${where}: computing`, async () => {
    const [rows = 0, dim = 0] = table.shape;
    const rank = query.shape.length;
    const batch = rank === 4 || layout === "packed" ? (query.shape[0] ?? 0) : 1;
    const keys = { data: repeated(floatsOf(table), batch), shape: keyShape(layout, rank, batch, rows, dim) };
    const values = { data: new Float32Array(batch * rows), shape: keyShape(layout, rank, batch, rows, 1) };
    const { scores } = await attend(
      backend,
      { query: q, key: keys, value: values },
      {
        scale,
        signal,
        ...(layout === "packed" ? { heads, kvHeads: 1 } : {}),
        layout,
        return: { scores: "raw", output: false },
      },
    );
    if (scores === undefined || scores instanceof Tensor) throw new TypeError("scores were asked for as an array");
    const rowOf = distanceRow(rows, offset);
    const data = new Float32Array((scores.data.length / rows) * length);
    for (let row = 0; row * rows < scores.data.length; row++) {
      for (let j = 0; j < length; j++) data[row * length + j] = scores.data[row * rows + rowOf(row % queries, j)] ?? 0;
    }
    return arrayResult(backend, data, [...scores.shape.slice(0, -1), length], keep);
  });
}

/** Sum over keys of weight * table[distance of the key], [B, H, L, E] with the weights' leading axes: to be added to attention's output. */
export async function relativeValues(
  backend: Backend,
  tensors: readonly unknown[],
  givenOptions: unknown,
): Promise<ArrayTensor | Tensor> {
  const where = "relativeValues";
  const {
    tensors: [weightsGiven, tableGiven],
    options,
  } = await asArrays({ tensors, options: givenOptions });
  const { weights, table, offset, keep, signal } = guard("option", `${where}: reading its arguments`, () => {
    const given = readRecord(where, "options", options, ["offset", "keep", "signal"]);
    const weights = readF32(where, "weights", weightsGiven, null);
    if (weights.shape.length < 2 || weights.shape.length > 4) {
      throw new HeedError(
        "shape",
        `${where}: weights must be [B, H, L, S], [H, L, S] or [L, S], got ${showShape(weights.shape)}`,
      );
    }
    const [queries = 0, keys = 0] = weights.shape.slice(-2);
    return {
      weights,
      table: readDistances(where, tableGiven),
      offset: readTableSize(where, "offset", given["offset"], LEAST_OFFSET, keys - queries),
      keep: readBoolean(where, "keep", given["keep"], false),
      signal: readSignal(where, given["signal"]) ?? undefined,
    };
  });
  return guardAsync("memory", `${where}: computing`, async () => {
    const [rows = 0, dim = 0] = table.shape;
    const [queries = 0, keys = 0] = weights.shape.slice(-2);
    const heads = product(weights.shape.slice(0, -2));
    const sums = sumsByDistance(floatsOf(weights), [heads, queries, keys], { rows, offset });
    // Queries of a state to which nothing is written are multiplied by it. Here the state is the table.
    const nothing = (width: number) => ({ data: new Float32Array(queries * width), shape: [1, queries, width] });
    const query = { data: sums, shape: [heads, queries, rows] };
    const { output } = await linearAttention(backend, [query, nothing(rows), nothing(dim)], {
      rule: "linear",
      scale: 1,
      state: { data: floatsOf(table), shape: [1, rows, dim] },
      signal,
    });
    if (output instanceof Tensor) throw new TypeError("the output was asked for as an array");
    return arrayResult(backend, output.data, [...weights.shape.slice(0, -1), dim], keep);
  });
}

/** The arguments without tensors: tables are looked up on the calling thread. */
async function asArrays(given: Arguments): Promise<Arguments> {
  const { tensors, options, release } = hold(given);
  const read = async (value: unknown): Promise<unknown> =>
    Tensor.is(value) ? { data: await value.read(), shape: value.shape } : value;
  try {
    return { tensors: await Promise.all(tensors.map(read)), options };
  } finally {
    release();
  }
}

function repeated(data: Float32Array, times: number): Float32Array {
  const all = new Float32Array(data.length * times);
  for (let time = 0; time < times; time++) all.set(data, time * data.length);
  return all;
}

/** One head of so many keys, in the query's rank and layout. */
function keyShape(layout: string, rank: number, batch: number, keys: number, dim: number): readonly number[] {
  if (rank === 2) return [keys, dim];
  if (layout === "packed") return [batch, keys, dim];
  const inner = layout === "bhnd" ? [1, keys, dim] : [keys, 1, dim];
  return rank === 3 ? inner : [batch, ...inner];
}

// The one place that calls heed: opens an engine, computes the present walk, checks it against the page's own arithmetic, times it.

import type { Capabilities, Heed } from "heed";
import { at, type Matrix } from "../model/matrix.js";
import type { State } from "../model/state.js";
import type { Walk } from "../model/walk.js";

/** What the kernel gave for one head. */
export interface KernelHead {
  readonly weights: Matrix;
  readonly output: Matrix;
  readonly lse: Matrix;
}

export interface KernelAnswer {
  readonly heads: readonly KernelHead[];
  /** Largest difference to the page's arithmetic, over weights and output. */
  readonly difference: number;
}

export type KernelStatus =
  | { readonly kind: "loading" }
  | { readonly kind: "ready"; readonly capabilities: Capabilities; readonly microseconds: number | null }
  | { readonly kind: "failed"; readonly message: string };

const TIMED_CALLS = 15;
const QUIET_BEFORE_TIMING = 200;

export class Kernel {
  status: KernelStatus = { kind: "loading" };
  onStatus: () => void = () => {};
  onAnswer: (walk: Walk, answer: KernelAnswer) => void = () => {};
  #heed: Heed | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #latest: Call | undefined;

  async open(): Promise<void> {
    try {
      // Behind the first paint: the page explains itself before the engine is there.
      const { createHeed } = await import("heed");
      this.#heed = await createHeed();
      this.#become({ kind: "ready", capabilities: this.#heed.capabilities, microseconds: null });
      if (this.#latest !== undefined) await this.#answer(this.#latest);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Computes this walk; a later call makes an unfinished earlier one void. */
  compute(walk: Walk, state: State): void {
    this.#latest = callOf(walk, state);
    if (this.#latest !== undefined) void this.#answer(this.#latest);
  }

  async #answer(call: Call): Promise<void> {
    const heed = this.#heed;
    if (heed === undefined) return;
    try {
      const answer = read(call.walk, await run(heed, call));
      if (call !== this.#latest) return;
      this.onAnswer(call.walk, answer);
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => void this.#time(heed, call), QUIET_BEFORE_TIMING);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** The median of several calls, as a user would await them: the way to the worker and back is in it. */
  async #time(heed: Heed, call: Call): Promise<void> {
    const times: number[] = [];
    try {
      for (let i = 0; i < TIMED_CALLS; i++) {
        const start = performance.now();
        await heed.attention(call.q, call.k, call.v, call.options);
        times.push(performance.now() - start);
      }
    } catch (error) {
      this.#fail(error);
      return;
    }
    times.sort((a, b) => a - b);
    const median = times[TIMED_CALLS >> 1];
    if (call !== this.#latest || median === undefined) return;
    this.#become({ kind: "ready", capabilities: heed.capabilities, microseconds: median * 1000 });
  }

  #fail(error: unknown): void {
    const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    this.#become({ kind: "failed", message });
  }

  #become(status: KernelStatus): void {
    this.status = status;
    this.onStatus();
  }
}

interface Tensor {
  readonly data: Float32Array;
  readonly shape: readonly number[];
}

interface Call {
  readonly walk: Walk;
  readonly q: Tensor;
  readonly k: Tensor;
  readonly v: Tensor;
  readonly options: {
    readonly scale: number;
    readonly causal: false | "lower-right" | "upper-left";
    readonly mask?: { readonly data: Uint8Array; readonly shape: readonly number[] };
  };
}

/** undefined for an empty sentence: there is nothing to ask. */
function callOf(walk: Walk, state: State): Call | undefined {
  if (walk.labels.length === 0) return undefined;
  const hidden = new Set(state.hidden);
  const mask = {
    data: Uint8Array.from(walk.labels, (_, key) => (hidden.has(key) ? 0 : 1)),
    shape: [1, 1, 1, walk.labels.length],
  };
  return {
    walk,
    q: stack(walk.heads.map((head) => head.q)),
    k: stack(walk.heads.map((head) => head.k)),
    v: stack(walk.heads.map((head) => head.v)),
    options: {
      scale: walk.scale,
      causal: state.causal === "none" ? false : state.causal,
      ...(hidden.size > 0 ? { mask } : {}),
    },
  };
}

function stack(heads: readonly Matrix[]): Tensor {
  const { rows, cols } = heads[0] ?? { rows: 0, cols: 0 };
  const data = new Float32Array(heads.length * rows * cols);
  heads.forEach((head, index) => {
    data.set(head.data, index * rows * cols);
  });
  return { data, shape: [1, heads.length, rows, cols] };
}

function run(heed: Heed, { q, k, v, options }: Call) {
  return heed.attention(q, k, v, { ...options, return: { weights: true, lse: true } });
}

function read(walk: Walk, result: Awaited<ReturnType<typeof run>>): KernelAnswer {
  let difference = 0;
  const heads = walk.heads.map((own, index): KernelHead => {
    const part = (like: Matrix, from: Float32Array): Matrix => {
      const size = like.rows * like.cols;
      return {
        rows: like.rows,
        cols: like.cols,
        data: Float64Array.from(from.subarray(index * size, (index + 1) * size)),
      };
    };
    const weights = part(own.weights, result.weights.data);
    const output = part(own.output, result.output.data);
    difference = Math.max(difference, apart(weights, own.weights), apart(output, own.output));
    return { weights, output, lse: part(own.lse, result.lse.data) };
  });
  return { heads, difference };
}

function apart(a: Matrix, b: Matrix): number {
  let most = 0;
  for (let row = 0; row < a.rows; row++) {
    for (let col = 0; col < a.cols; col++) {
      const difference = Math.abs(at(a, row, col) - at(b, row, col));
      // NaN must show, and Math.max would carry it on; a comparison would drop it.
      most = Number.isNaN(difference) ? Number.NaN : Math.max(most, difference);
    }
  }
  return most;
}

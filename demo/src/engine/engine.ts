// The one place that calls heed: opens an engine, and answers the calls that a room asks for.

import type { AttentionOptions, Capabilities, Heed } from "heed";
import { pause } from "../ui/pieces.js";

export interface Tensor {
  readonly data: Float32Array;
  readonly shape: readonly number[];
}

export interface Call extends Readonly<Record<"q" | "k" | "v", Tensor>> {
  readonly options: Omit<AttentionOptions, "cache" | "return" | "keep" | "out">;
  /** A loss's gradient in the output: its gradients in all else are wanted, too. */
  readonly outputGradient?: Tensor;
  /** Only the output: weights between all pixels of a picture would be larger than all else. */
  readonly lean?: boolean;
  /** Linear attention: instead of weights between words its answer has the state that they wrote. */
  readonly linear?: boolean;
}

export interface Answer extends Readonly<Record<"output" | "weights" | "lse" | "entropy", Tensor>> {
  /** Where they were asked for. */
  readonly gradients?: Readonly<Record<"dq" | "dk" | "dv" | "dbias", ArrayLike<number>>> | undefined;
}

type EngineStatus =
  | { readonly kind: "loading" }
  | { readonly kind: "ready"; readonly capabilities: Capabilities }
  | { readonly kind: "failed"; readonly message: string };

const EMPTY: Tensor = { data: new Float32Array(0), shape: [0] };

interface Request {
  readonly calls: readonly Call[];
  readonly answered: (answers: readonly Answer[]) => void;
}

export class Engine {
  status: EngineStatus = { kind: "loading" };
  onStatus: () => void = () => {};
  /** undefined until it is open, and where it cannot be opened. */
  heed: Heed | undefined;
  #settle: (heed: Heed | undefined) => void = () => {};
  /** For those who wait for it: the same. */
  readonly opened = new Promise<Heed | undefined>((settle) => {
    this.#settle = settle;
  });
  #latest: Request | undefined;
  #isBusy = false;

  /** It is open, or could not be opened. */
  get isSettled(): boolean {
    return this.status.kind !== "loading";
  }

  /** Throws where it cannot be opened. */
  async started(): Promise<Heed> {
    const heed = await this.opened;
    if (heed === undefined) throw new Error("it needs the kernels, which did not start here");
    return heed;
  }

  async open(): Promise<void> {
    try {
      // After the first paint, because the page explains itself before the engine is there.
      const { createHeed } = await import("heed");
      this.heed = await createHeed();
      this.#settle(this.heed);
      this.#become({ kind: "ready", capabilities: this.heed.capabilities });
      await pause();
      if (this.#latest !== undefined) await this.#answer(this.#latest);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Answers when it can. A later request waits for an unfinished earlier one, which then is void, as are those between. */
  ask(calls: readonly Call[], answered: Request["answered"]): void {
    this.#latest = { calls, answered };
    if (!this.#isBusy) void this.#answer(this.#latest);
  }

  async #answer(request: Request): Promise<void> {
    const { heed } = this;
    if (heed === undefined || request.calls.length === 0) return;
    this.#isBusy = true;
    try {
      const answers = await Promise.all(request.calls.map((call) => run(heed, call)));
      await pause();
      if (request === this.#latest) request.answered(answers);
    } catch (error) {
      this.#fail(error);
    }
    this.#isBusy = false;
    if (request !== this.#latest && this.#latest !== undefined) await this.#answer(this.#latest);
  }

  #fail(error: unknown): void {
    this.#settle(undefined);
    const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    this.#become({ kind: "failed", message });
  }

  #become(status: EngineStatus): void {
    this.status = status;
    this.onStatus();
  }
}

/** Results that have no meaning with a normalizer stay empty. */
async function run(heed: Heed, call: Call): Promise<Answer> {
  const { q, k, v, options, lean = false, linear = false } = call;
  if (linear) {
    const { scale } = options;
    const { output, state } = await heed.linearAttention(q, k, v, { rule: "linear", scale });
    return { output, weights: state, lse: EMPTY, entropy: EMPTY };
  }
  const softened = !lean && (options.normalize ?? "softmax") === "softmax";
  const wanted = { weights: !lean, lse: softened, entropy: softened };
  const found = await heed.attention(q, k, v, { ...options, return: wanted });
  const { output, weights = EMPTY, lse = EMPTY, entropy = EMPTY } = found;
  return { output, weights, lse, entropy, gradients: await gradientsOf(heed, call) };
}

async function gradientsOf(heed: Heed, { q, k, v, options, outputGradient }: Call): Promise<Answer["gradients"]> {
  if (outputGradient === undefined) return undefined;
  const { backward } = await heed.attentionVjp(q, k, v, options);
  const { dq, dk, dv, dbias } = await backward(outputGradient);
  return { dq: dq.data, dk: dk.data, dv: dv.data, dbias: dbias?.data ?? [] };
}

// A pass forward and back.

import { type ArrayTensor, Tensor } from "../api/tensor.js";
import type { Program, Resident } from "../backends/backend.js";
import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { asF32 } from "../base/f16.js";
import { guard, guardAsync } from "../base/guard.js";
import { readBoolean, readCount, readFinite, readSignal, throwIfAborted } from "../base/read-values.js";
import { Layer } from "../layers/layer.js";
import { endPass } from "../layers/passes.js";
import { readOnce } from "../layers/read.js";
import { Scope } from "../layers/scope.js";
import { runBackward } from "./backward.js";
import { BackwardPass } from "./backward-pass.js";
import { SeededDrops } from "./drops.js";
import { inTurn } from "./in-program.js";
import { type Loss, lossOf } from "./loss.js";
import { Pass } from "./pass/pass.js";
import { addBackward, belongs, type Seed } from "./pass/tensor-backward.js";
import { Recorder } from "./recorder.js";
import { checkModel, learn, learnt } from "./variables.js";

/** The options of a pass whose gradients are computed. */
export interface PassOptions {
  readonly signal?: AbortSignal | undefined;
  /** A factor of all gradients, such as 1 / n where n batches make a step. Default 1. */
  readonly scale?: number | undefined;
  /** Of what layers drop, a whole number of 32 bits. Default the number of calls before with this model. */
  readonly seed?: number | undefined;
  /** Keeps only what goes into transformer blocks, and computes each block again in the backward pass. Changes no bit. Default false. */
  readonly checkpointing?: boolean | undefined;
}

/**
 * What the function of a pass returns: its loss, which is what a loss function gave or any one number, and whatever else is asked for,
 * or promises of them. A pass that begins its way back by `tensor.backward`, or has none, needs no loss.
 */
export interface PassResult {
  readonly loss?: Tensor | Promise<Tensor> | undefined;
}

/** The same, read: the loss as a number, tensors as arrays. */
export type Read<R> = {
  readonly [Name in keyof R]: Name extends "loss"
    ? number
    : Awaited<R[Name]> extends Tensor
      ? ArrayTensor
      : Awaited<R[Name]>;
};

/** The gradients of what `pass.input` made. */
export interface InputGradients {
  /** Of the inputs of the pass, in the order of `pass.input`. */
  readonly inputGradients: readonly ArrayTensor[];
}

/**
 * Computes a loss and its gradients in all parameters of the model that are not frozen, and adds them to those that are there. What
 * is not the model's keeps its values.
 */
export function gradients<R extends PassResult | Readonly<Record<string, unknown>>>(
  model: Layer,
  act: (pass: Pass) => Promise<R>,
  options?: PassOptions,
): Promise<Read<R> & InputGradients> {
  return runPass("gradients", model, act, options, async ({ program, recorder, inputs, seeds, scale }, loss) => {
    const starts = [...(loss ? [loss] : []), ...seeds];
    if (starts.some(({ x }) => !recorder.needs(x))) throw withoutGradients(model, recorder, inputs);
    const backward = new BackwardPass(program, recorder);
    if (loss !== null) await backward.begin(loss, scale);
    for (const { x, gradient } of seeds) await backward.seed(x, gradient, scale);
    await runBackward(backward, recorder.steps);
    const inputGradients: ArrayTensor[] = [];
    for (const x of inputs) inputGradients.push(await readGradient(program, backward, x));
    const keep = (): void => {
      for (const [variable, gradient] of backward.learnt) variable.setGradient(program.keep(gradient));
    };
    return { more: { inputGradients }, keep };
  });
}

/** Computes a loss, or whatever else the pass returns, and no gradients. */
export function evaluate<R extends PassResult | Readonly<Record<string, unknown>>>(
  model: Layer,
  act: (pass: Pass) => Promise<R>,
  options?: PassOptions,
): Promise<Read<R>> {
  return runPass("evaluate", model, act, options, null);
}

/** How often gradients were asked for. */
const CALLS = new WeakMap<Layer, number>();

/** What the gradient is asked for of. */
interface Input {
  readonly x: Resident;
  readonly shape: readonly number[];
}

/** A pass under backward. */
interface Begun {
  readonly program: Program;
  readonly recorder: Recorder;
  readonly inputs: readonly Input[];
  readonly seeds: readonly Seed[];
  readonly scale: number;
}

async function runPass<R extends PassResult, Back extends object>(
  where: string,
  model: unknown,
  act: (pass: Pass) => Promise<R>,
  options: PassOptions | undefined,
  back: ((begun: Begun, loss: Loss | null) => Promise<{ readonly more: Back; readonly keep: () => void }>) | null,
): Promise<Read<R> & Back> {
  const given =
    options === undefined ? {} : readOnce(where, "options", options, ["signal", "scale", "seed", "checkpointing"]);
  const signal = guard("option", `${where}: reading signal`, () => {
    const read = readSignal(where, given["signal"]);
    throwIfAborted(where, read);
    return read;
  });
  const scale = readFinite(where, "scale", given["scale"], 1);
  const seed = readCount(where, "seed", given["seed"], null, 2 ** 32 - 1, 0);
  const isCheckpointing = readBoolean(where, "checkpointing", given["checkpointing"], false);
  checkModel(where, model);
  if (typeof act !== "function") {
    throw new HeedError("option", `${where}: the pass must be a function, got ${showValue(act)}`);
  }
  const calls = CALLS.get(model) ?? 0;
  if (back !== null) CALLS.set(model, calls + 1);
  const drops = back === null ? undefined : new SeededDrops(seed ?? calls);
  const begun = await Layer.engineOf(model).begin(signal, Layer.moduleOf(model, "training"));
  const { program } = begun;
  try {
    const doing = `${where}: computing`;
    const learning = guard("memory", doing, () => {
      return back === null ? learnt(model, program.root) : learn(where, model, program.root);
    });
    const recorder = new Recorder(program, learning, { isCheckpointing, wantsGradients: back !== null });
    addBackward();
    const seeds: Seed[] = [];
    const onMade = (tensor: Tensor): void => {
      if (back !== null) belongs(tensor, { scope, seeds });
    };
    const context = { ...begun, signal, held: new Map(), released: [], tape: recorder, onMade };
    const scope: Scope = new Scope({ ...context, ...(drops && { drops }) });
    try {
      const inputs: Input[] = [];
      const want = (tensor: Tensor): void => {
        onMade(tensor);
        if (back === null) return;
        const x = scope.rows(tensor).resident;
        recorder.want(x);
        inputs.push({ x, shape: tensor.shape });
      };
      const pass: Pass = new Pass(scope, want, async (logits, rule) => {
        const { ofClasses } = await import("./later/losses.js");
        return ofClasses(pass, logits, rule);
      });
      // Its own errors are the caller's.
      const returned = await act(pass);
      const reading = `${where}: reading what the pass returned`;
      const result = await guardAsync("option", reading, () => promisedOf(returned));
      const loss = readLoss(where, result, { scope, recorder, seeds, isForward: back === null });
      const ending = async (): Promise<Read<R> & Back> => {
        const made = await back?.({ program, recorder, inputs, seeds, scale }, loss);
        // What fails or is aborted leaves the gradients as they were.
        const read = await readResults(result);
        await program.flush();
        made?.keep();
        return { ...read, ...made?.more } as Read<R> & Back;
      };
      return await guardAsync("memory", doing, () => inTurn(model, ending));
    } finally {
      scope.close();
    }
  } finally {
    await program.close();
    endPass(program.root);
  }
}

/** What a pass returned, of which it may only have promised something. */
async function promisedOf<R extends PassResult>(returned: R): Promise<R> {
  const entries = Object.entries(returned ?? {}).map(async ([name, value]) => [name, await value] as const);
  return Object.fromEntries(await Promise.all(entries)) as R;
}

interface Ended {
  readonly scope: Scope;
  readonly recorder: Recorder;
  readonly seeds: readonly Seed[];
  /** Whether there is no way back. */
  readonly isForward: boolean;
}

/** Null: there is none, and the way back begins elsewhere, or there is no way back and something else is asked for. */
function readLoss(
  where: string,
  { loss, ...others }: { readonly loss?: unknown },
  { scope, recorder, seeds, isForward }: Ended,
): Loss | null {
  if (loss === undefined && (isForward ? Object.keys(others) : seeds).length > 0) return null;
  const made = Tensor.is(loss) ? lossOf(loss) : null;
  if (made?.tape === recorder) return made;
  if (Tensor.is(loss) && made === null) {
    const x = scope.rows(loss).resident;
    if (x.elements === 1)
      return { tape: recorder, x, gradient: scope.rows(scope.upload(Float32Array.of(1), [])).resident };
  }
  const rule = "the pass must return { loss }, one number that was computed in this pass";
  throw new HeedError("option", `${where}: ${rule}, got ${showValue(loss)}`);
}

/** Of a loss through which no gradient goes. */
function withoutGradients(model: Layer, recorder: Recorder, inputs: readonly Input[]): HeedError {
  const rule = "gradients: the loss must depend on a parameter of the model that learns, or on what pass.input gave";
  if (recorder.learns || inputs.length > 0) return new HeedError("option", `${rule}, got one of neither`);
  const why = Layer.isLoaded(model) ? "all parameters of the model are frozen" : "the model has no loaded parameters";
  return new HeedError("option", `${rule}: ${why}, and there is no input`);
}

async function readResults<R extends PassResult>(result: R): Promise<Read<R>> {
  const read: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(result)) {
    if (!Tensor.is(value)) read[name] = value;
    else if (name === "loss") read[name] = (await value.read())[0];
    else read[name] = { data: await value.read(), shape: value.shape, dtype: "f32" };
  }
  return read as Read<R>;
}

async function readGradient(program: Program, backward: BackwardPass, { x, shape }: Input): Promise<ArrayTensor> {
  const gradient = backward.of(x);
  if (gradient === null) return { data: new Float32Array(shape.reduce((a, b) => a * b, 1)), shape, dtype: "f32" };
  return { data: asF32(await program.download(gradient)), shape, dtype: "f32" };
}

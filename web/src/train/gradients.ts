// A pass forward and back.

import { type ArrayTensor, Tensor } from "../api/tensor.js";
import type { Program, Resident } from "../backends/backend.js";
import { showValue } from "../base/describe.js";
import { HeedError } from "../base/errors.js";
import { asF32 } from "../base/f16.js";
import { guard, guardAsync } from "../base/guard.js";
import { readBoolean, readFinite, readSignal, throwIfAborted } from "../base/read-values.js";
import { Layer } from "../layers/layer.js";
import { Pass } from "../layers/pass.js";
import { endPass } from "../layers/passes.js";
import { readOnce } from "../layers/read.js";
import { Scope } from "../layers/scope.js";
import { runBackward } from "./backward.js";
import { BackwardPass } from "./backward-pass.js";
import { inTurn } from "./in-program.js";
import { type Loss, lossOf } from "./losses.js";
import { Recorder } from "./recorder.js";
import { checkModel, learn, learnt } from "./variables.js";

export interface PassOptions {
  readonly signal?: AbortSignal | undefined;
  /** A factor of all gradients, such as 1 / n where n batches make a step. Default 1. */
  readonly scale?: number | undefined;
  /** Keeps only what goes into transformer blocks, and computes each block again in the backward pass. Changes no bit. Default false. */
  readonly checkpointing?: boolean | undefined;
}

/** What the function of a pass returns: its loss, and whatever else is asked for. */
export interface PassResult {
  readonly loss: Tensor;
}

/** The same, read: the loss as a number, tensors as arrays. */
export type Read<R> = {
  readonly [Name in keyof R]: Name extends "loss" ? number : R[Name] extends Tensor ? ArrayTensor : R[Name];
};

export interface InputGradients {
  /** Of the inputs of the pass, in the order of `pass.input`. */
  readonly inputGradients: readonly ArrayTensor[];
}

/**
 * Computes a loss and its gradients in all parameters of the model that are not frozen, and adds them to those that are there. What
 * is not the model's keeps its values.
 */
export function gradients<R extends PassResult>(
  model: Layer,
  act: (pass: Pass) => Promise<R>,
  options?: PassOptions,
): Promise<Read<R> & InputGradients> {
  return runPass("gradients", model, act, options, async ({ program, recorder, inputs, scale }, loss) => {
    if (!recorder.needs(loss.x)) throw withoutGradients(model, recorder, inputs);
    const backward = new BackwardPass(program, recorder);
    await backward.begin(loss, scale);
    await runBackward(backward, recorder.steps);
    const inputGradients: ArrayTensor[] = [];
    for (const x of inputs) inputGradients.push(await readGradient(program, backward, x));
    const keep = (): void => {
      for (const [variable, gradient] of backward.learnt) variable.setGradient(program.keep(gradient));
    };
    return { more: { inputGradients }, keep };
  });
}

/** Computes a loss and no gradients. */
export function evaluate<R extends PassResult>(
  model: Layer,
  act: (pass: Pass) => Promise<R>,
  options?: PassOptions,
): Promise<Read<R>> {
  return runPass("evaluate", model, act, options, null);
}

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
  readonly scale: number;
}

async function runPass<R extends PassResult, Back extends object>(
  where: string,
  model: unknown,
  act: (pass: Pass) => Promise<R>,
  options: PassOptions | undefined,
  back: ((begun: Begun, loss: Loss) => Promise<{ readonly more: Back; readonly keep: () => void }>) | null,
): Promise<Read<R> & Back> {
  const given = options === undefined ? {} : readOnce(where, "options", options, ["signal", "scale", "checkpointing"]);
  const signal = guard("option", `${where}: reading signal`, () => {
    const read = readSignal(where, given["signal"]);
    throwIfAborted(where, read);
    return read;
  });
  const scale = readFinite(where, "scale", given["scale"], 1);
  const isCheckpointing = readBoolean(where, "checkpointing", given["checkpointing"], false);
  checkModel(where, model);
  if (typeof act !== "function") {
    throw new HeedError("option", `${where}: the pass must be a function, got ${showValue(act)}`);
  }
  const begun = await Layer.engineOf(model).begin(signal, Layer.moduleOf(model, "training"));
  const { program } = begun;
  try {
    const doing = `${where}: computing`;
    const learning = guard("memory", doing, () => {
      return back === null ? learnt(model, program.root) : learn(where, model, program.root);
    });
    const recorder = new Recorder(program, learning, { isCheckpointing, wantsGradients: back !== null });
    const scope = new Scope({ ...begun, signal, held: new Map(), released: [], tape: recorder });
    try {
      const inputs: Input[] = [];
      // Its own errors are the caller's.
      const returned = await act(
        new Pass(scope, (tensor) => {
          if (back === null) return;
          const x = scope.rows(tensor).resident;
          recorder.want(x);
          inputs.push({ x, shape: tensor.shape });
        }),
      );
      const result = guard("option", `${where}: reading what the pass returned`, () => ({ ...returned }));
      const loss = readLoss(where, result, recorder);
      const ending = async (): Promise<Read<R> & Back> => {
        const made = await back?.({ program, recorder, inputs, scale }, loss);
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

function readLoss(where: string, { loss }: { readonly loss?: unknown }, recorder: Recorder): Loss {
  const made = Tensor.is(loss) ? lossOf(loss) : null;
  if (made?.tape === recorder) return made;
  const rule = "the pass must return { loss }, with what a loss function of heed/train gave in this pass";
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
